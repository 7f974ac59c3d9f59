"""Experiments are data: environment x algorithms x settings x seeds, the figures to draw and the claims to judge."""

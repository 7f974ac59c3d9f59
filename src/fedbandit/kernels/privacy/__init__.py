"""Differential privacy: what a promise costs in noise, and the noise of sums that are released again and again."""

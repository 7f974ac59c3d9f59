"""Generalised linear models: links, kept data, solvers, widths and turns."""

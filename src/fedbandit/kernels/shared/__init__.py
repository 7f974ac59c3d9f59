"""Kernels of no one family: how all are compiled, triangular factors, rows that grow, sampling."""

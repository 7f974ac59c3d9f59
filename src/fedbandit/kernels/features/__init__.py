"""Kernels that turn declared features into vectors."""

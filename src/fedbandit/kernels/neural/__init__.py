"""The neural family's kernels, written with JAX: the same code runs on the processor and on a GPU.

Nothing outside this folder imports JAX, and nothing imports this folder before a neural algorithm is built.
"""

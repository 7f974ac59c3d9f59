"""The neural family, as far as its algorithms share it. What computes needs JAX; parameters and messages do not."""

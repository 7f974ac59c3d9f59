"""The neural family, as far as its algorithms share it. `learner`, `together`, `alone` and `server` need JAX."""

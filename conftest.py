"""What pytest leaves out where an extra is not installed: modules that cannot be imported without it."""

from importlib.util import find_spec

NEED_JAX = ["kernels/neural/*.py", *(f"algorithms/neural/{name}.py" for name in ("learner", "together", "alone"))]
NEED_JAX += [f"algorithms/neural/{name}.py" for name in ("exchange", "server")]

collect_ignore_glob = [] if find_spec("jax") else [f"src/fedbandit/{path}" for path in NEED_JAX]

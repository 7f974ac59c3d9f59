"""What pytest leaves out where an extra is not installed: modules that cannot be imported without it."""

from importlib.util import find_spec
from pathlib import Path

FREE_OF_JAX = {"__init__", "network", "subspace", "kernel_regression"}
KERNELS = sorted(each.stem for each in (Path(__file__).parent / "src/fedbandit/kernels/neural").glob("*.py"))
NEED_JAX = [f"kernels/neural/{name}.py" for name in KERNELS if name not in FREE_OF_JAX]
COMPUTING = ("alone", "exchange", "fn_ucb_clients", "learner", "server", "shortcut")
NEED_JAX += [f"algorithms/neural/shared/{name}.py" for name in COMPUTING]

collect_ignore_glob = [] if find_spec("jax") else [f"src/fedbandit/{path}" for path in NEED_JAX]

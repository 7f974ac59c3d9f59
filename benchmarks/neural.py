"""The neural family on one core of a processor: whole runs of the paper's experiments, and memory.

Runs take minutes and one thread: their seconds are the processor's, which other work on the machine does not count in.
"""

from __future__ import annotations

import os
from typing import Any

from benchmarks.row import Row, in_a_process, peak_gibibytes

CLASSIFICATION: dict[str, Any] = {"ridge": 10, "nu_pooled": 0.1, "nu_local": 0.01}
PRACTICAL: dict[str, Any] = {"initialisation": "normal", "scale_features": False, "regulariser": "decay"}

WHOLE_RUN = """
import time
import fedbandit as fb
from benchmarks.neural_gpu import shuttle
world = fb.environment("cosine", clients={clients}) if {cosine} else shuttle({clients})
began = time.process_time()
fb.run("fn-ucb-less", world, turns={rounds} * {clients}, **{parameters})
print(time.process_time() - began)
"""


def _run(*, cosine: bool = False, rounds: int = 5000, clients: int = 2, **parameters: Any) -> str:
    return WHOLE_RUN.format(cosine=cosine, rounds=rounds, clients=clients, parameters=parameters)


def _seconds(code: str) -> float:
    """Return the processor's seconds that the code prints; they include compilation, so nothing is kept of it."""
    environment = {**os.environ, "JAX_ENABLE_COMPILATION_CACHE": "false"}
    return float(in_a_process(code, environment=environment).stdout.split()[-1])


ROWS = (
    Row("fn-ucb-less: cosine, m=20, N=2, T=5000", 40, "s", lambda: _seconds(_run(cosine=True))),
    Row("fn-ucb-less: shuttle, m=50, diagonal", 80, "s",
        lambda: _seconds(_run(width=50, diagonal=True, **CLASSIFICATION)), "authors: 244.9 s, 96 cores and an A100"),
    Row("fn-ucb-less: shuttle, m=20, full, p0 = 2540", 110, "s",
        lambda: _seconds(_run(**CLASSIFICATION)), "authors: 361.8 s, 96 cores and an A100"),
    Row("fn-ucb-less: shuttle, m=20, full, p0 = 1301 (initialisation=normal)", 110, "s",
        lambda: _seconds(_run(**CLASSIFICATION, **PRACTICAL)), "authors: 361.8 s, 96 cores and an A100"),
    Row("fn-ucb-less: memory at p0 = 3251, N=5, full, 1040 rounds", 2, "GiB",
        lambda: peak_gibibytes(_run(rounds=1040, clients=5, width=50, train_steps=1, **CLASSIFICATION, **PRACTICAL))),
)  # fmt: skip

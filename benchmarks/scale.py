"""Very many clients: what memory they take, and whether a turn costs more than with few."""

from __future__ import annotations

from functools import cache, partial

from benchmarks.row import Row, in_a_process

CLIENTS = """
import time
import fedbandit as fb
from benchmarks.row import peak_kibibytes

def microseconds(clients, turns):
    world = fb.environment("linear", clients=clients, arms={size}, dimension={size})
    began = time.process_time()
    fb.run("lean-linucb", world, turns=turns, delivery="upload")
    return (time.process_time() - began) / turns * 1e6

microseconds(1_000, 30_000)
few = min(microseconds(1_000, 30_000) for _ in range(3))
many = microseconds({clients}, 30_000_000)
print(few, many, peak_kibibytes())
"""


@cache
def _measured(clients: int, size: int) -> tuple[float, float, int]:
    """Return microseconds a turn with 1,000 clients and with so many, and the memory that it took, in KiB."""
    few, many, memory = in_a_process(CLIENTS.format(clients=clients, size=size)).stdout.split()
    return float(few), float(many), int(memory)


def _gibibytes(clients: int, size: int) -> float:
    return _measured(clients, size)[2] / 2**20


def _times_few(clients: int, size: int) -> float:
    few, many, _ = _measured(clients, size)
    return many / few


ROWS = (
    Row("lean-linucb, a million clients, 30 million turns, d=10", 12, "GiB", partial(_gibibytes, 1_000_000, 10),
        "delivery=upload"),
    Row("a turn of these, beside one of 1,000 clients", 1.5, "times", partial(_times_few, 1_000_000, 10),
        "both have 30 turns a client; processor time"),
    Row("lean-linucb, 10 million clients, 30 million turns, d=5", 16, "GiB", partial(_gibibytes, 10_000_000, 5),
        "delivery=upload"),
)  # fmt: skip

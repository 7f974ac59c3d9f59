"""The game of the other libraries, played by sites that share summaries."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import fedbandit as fb
from benchmarks.peer_game import ARMS, SEEDS, TUNING, TURNS, World
from benchmarks.peer_models import Fedbandit, Settings, blocks


def federated() -> dict[str, Any]:
    """Return regrets, the mean of the megabytes that are sent, and the microseconds of a turn in the simulation."""
    chosen = min(Fedbandit.tried, key=lambda settings: _run(TUNING, settings)[0])
    regrets, megabytes, microseconds = zip(*(_run(seed, chosen) for seed in SEEDS), strict=True)
    return {"federated": list(regrets), "megabytes": float(np.mean(megabytes)), "turn": min(microseconds)}


def _run(seed: int, settings: Settings) -> tuple[float, float, float]:
    world = World.drawn(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "turns.npz"
        np.savez(path, client=world.site, arms=blocks(world.context, ARMS), reward=world.reward, mean=world.mean)
        recorded = fb.environment("recorded", path=str(path))
        began = time.process_time()
        found = fb.run("lean-linucb", recorded, seed=seed, **settings)
        spent = time.process_time() - began
    return float(found.regret[-1]), float(found.bytes[-1]) / 1e6, spent / TURNS * 1e6

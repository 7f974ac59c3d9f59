"""A shop of `benchmarks.living`: a process that joins its federation, decides and learns until it is told to rest.

python -m benchmarks.living_site FOLDER NAME ADDRESS CREDENTIALS: its state stands in FOLDER/NAME.json; at the end,
FOLDER/NAME.npz has the sums of all that it was rewarded for. Numbers are multiples of 1/16, so that sums are exact.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from pathlib import Path

import numpy as np

import fedbandit as fb

ARMS, DIMENSION = 3, 4


def main() -> None:
    """Join, work, rest, end."""
    folder, name, address, credentials = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
    rng = np.random.default_rng(abs(hash(name)) % 2**32)
    gram, moment, turns = np.zeros((DIMENSION, DIMENSION)), np.zeros(DIMENSION), 0
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    with fb.Site.join(address, credentials=credentials, store=folder / f"{name}.db", every=1.0, patience=0.2) as site:
        while not ended.wait(0.1):
            if not (folder / "rest").exists():
                arms = rng.integers(-8, 9, (ARMS, DIMENSION)) / 16
                decision = site.choose(arms)
                reward = float(rng.integers(17)) / 16
                assert site.learn(decision.id, reward)
                x = arms[decision.arm]
                gram, moment, turns = gram + np.outer(x, x), moment + reward * x, turns + 1
            said = {
                "state": site.state.value, "trouble": site.trouble, "turns": turns, "unsent": site.unsent,
                "threshold": getattr(site.charter.algorithm, "upload_threshold", None),
                "dimension": site.charter.setting.dimension,
            }  # fmt: skip
            part = folder / f"{name}.part"
            part.write_text(json.dumps(said), encoding="utf-8")
            part.replace(folder / f"{name}.json")
    np.savez(folder / f"{name}.npz", gram=gram, moment=moment, turns=turns)


if __name__ == "__main__":
    main()

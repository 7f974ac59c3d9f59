"""`python -m benchmarks peers`: fedbandit beside libraries that a user would pick instead, on the same turns.

A world that all of them can play: ten sites, five arms, and a context of five numbers that the arms share; the reward
is linear in it, differently for each arm and alike at all sites. Each library decides with a model of its own at each
site, and with one model to which all sites send their raw data; fedbandit also with sites that share summaries. Each
has the best of six settings, as found in another world, for each of these ways.

Times are of a decision and of an update, in processor time, means over all turns of a world, the best of several
worlds; memory is the peak of the process, with its ten models. Each library runs in a process of its own, on one core.

When all libraries are there (`pip install '.[peers]'`) the numbers are stored in benchmarks/peers.csv, and the README's
table is made from them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from benchmarks.peer_models import MODELS, Model
from benchmarks.peer_table import Peer, print_table, store
from benchmarks.row import in_a_process


def in_its_process(kind: type[Model]) -> Peer:
    """Measure a library in a process of its own."""
    code = f"import json; from benchmarks import peer_game, peer_models; kind = peer_models.{kind.__name__};"
    found = in_a_process(code + "print(json.dumps(peer_game.measured(kind)))")
    return Peer(**json.loads(found.stdout.splitlines()[-1]))


def main(kinds: Sequence[type[Model]] = MODELS, measure: Callable[[type[Model]], Peer] = in_its_process) -> int:
    """Measure each library that is there, print the table, and store it if none is missing."""
    missing = [kind for kind in kinds if find_spec(kind.module) is None]
    for kind in missing:
        print(f"{kind.package} is not installed: pip install '.[peers]'")
    found = [measure(kind) for kind in kinds if kind not in missing]
    print_table(found)
    if missing:
        print("nothing is stored: benchmarks/peers.csv is written when all of them are installed")
    else:
        store(found)
    return 0

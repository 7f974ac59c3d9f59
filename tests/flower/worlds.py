"""Worlds in which the sites of a Flower app act, and what the simulator does in them."""

from __future__ import annotations

import numpy as np

import fedbandit as fb
from contract.small_worlds import ARMS, CLIENTS, DIMENSION, small_turns
from fedbandit.core.algorithm import Setting
from fedbandit.core.smallest_upload import has_smallest_upload
from fedbandit.simulation.in_process import simulate
from samples.runs import ByMessages

SEED = 7
SIZES = {"clients": CLIENTS, "arms": ARMS, "dimension": DIMENSION}


class SmallWorld:
    """Rounds in which every site has a turn, in the order of their numbers."""

    id, epoch_length = "small", 0

    def __init__(self, name, rounds):
        self.name, self.rounds = name, rounds

    def setting(self):
        return Setting(CLIENTS, ARMS, DIMENSION, self.rounds * CLIENTS)

    def describe(self):
        return ()

    def release_noise(self):
        return None

    def turns(self, count, seed, block):
        yield small_turns(self.name, self.rounds, seed)


def simulated(name, rounds):
    """The choices (rounds, sites) of the simulator, its ledger, and its server as it ends."""
    algorithm = ByMessages(fb.algorithm(name))
    trace, wire = simulate(algorithm, SmallWorld(name, rounds), rounds * CLIENTS, SEED)
    return trace.choice.reshape(rounds, CLIENTS, *trace.choice.shape[1:]), trace.ledger, wire.server


def federation(name, rounds, **more):
    """What the sites and the server of a Flower app are given."""
    single = {"smallest_upload": 1} if has_smallest_upload(fb.algorithms[name]) else {}  # as in a simulation
    return {"algorithm": name, **SIZES, "rounds": rounds, "seed": SEED, "set": single, **more}


def keys(given):
    """The same as Flower tells it in the configuration of a run."""
    flat = {f"fedbandit.{name}": value for name, value in given.items() if not isinstance(value, dict)}
    for table in (name for name, value in given.items() if isinstance(value, dict)):
        flat |= {f"fedbandit.{table}.{name}": value for name, value in given[table].items()}
    return flat


class Application:
    """Meets the turns of the world, and tells `note` what was chosen at (round, site)."""

    def __init__(self, name, rounds, note):
        self.turns, self.note = small_turns(name, rounds, SEED), note

    def __call__(self, turn):
        at = turn.round * CLIENTS + turn.number
        decision = turn.choose(self.turns.features[at])
        self.note(turn.round, turn.number, decision.arm)
        feedback = self.turns.outcomes.feedback(slice(at, at + 1), np.array([decision.arm]))
        turn.learn(decision, float(feedback[0]))

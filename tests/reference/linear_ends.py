"""Literal transcriptions of what the linear family lies between: everyone alone, and all data in one place."""

import numpy as np

from reference import linear
from reference.recorded import Ledger, count_clients


def local_linucb(world, *, ridge=0.1, noise=0.1, delta=0.1, alpha=None, exploration="ucb", draws=None):
    """Every client alone, no communication; V_g, b_g stay empty."""
    clients, dimension = count_clients(world), world["arms"].shape[2]
    known_v, known_b = np.zeros((clients, dimension, dimension)), np.zeros((clients, dimension))
    ledger, chosen = Ledger(), []
    for turn, i in enumerate(world["client"]):
        arm = linear.choose(
            world["arms"][turn],
            known_v[i],
            known_b[i],
            ridge=ridge,
            noise=noise,
            delta=delta,
            alpha=alpha,
            exploration=exploration,
            draw=None if draws is None else draws[turn],
        )
        chosen.append(arm)
        x, y = world["arms"][turn, arm], world["reward"][turn, arm]
        known_v[i] += np.outer(x, x)
        known_b[i] += x * y
        ledger.end_turn()
    return {
        "arm": np.array(chosen),
        **ledger.report(),
        "V_g": np.zeros((dimension, dimension)),
        "b_g": np.zeros(dimension),
        "V": known_v,
        "b": known_b,
    }


def pooled_linucb(world, *, ridge=0.1, noise=0.1, delta=0.1, alpha=None, exploration="ucb", draws=None):
    """One LinUCB over all clients' data at once; raw data travel."""
    dimension = world["arms"].shape[2]
    server_v, server_b = np.zeros((dimension, dimension)), np.zeros(dimension)
    ledger, chosen = Ledger(), []
    for turn in range(len(world["client"])):
        arm = linear.choose(
            world["arms"][turn],
            server_v,
            server_b,
            ridge=ridge,
            noise=noise,
            delta=delta,
            alpha=alpha,
            exploration=exploration,
            draw=None if draws is None else draws[turn],
        )
        chosen.append(arm)
        x, y = world["arms"][turn, arm], world["reward"][turn, arm]
        server_v += np.outer(x, x)
        server_b += x * y
        # Reading: the turn's one message (x, y) is an upload; the model comes back to the client for nothing.
        ledger.up(1, dimension + 1)
        ledger.end_turn()
    return {"arm": np.array(chosen), **ledger.report(), "V_g": server_v, "b_g": server_b}

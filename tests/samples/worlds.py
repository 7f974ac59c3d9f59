"""Small worlds to run on: recorded ones, from arrays, and a runner by hand to compare the engine with."""

import numpy as np

import fedbandit as fb
from fedbandit.core.interfaces import Cadence
from fedbandit.protocol.ledger import Ledger
from reference.recorded import dueling_rounds, glm_rounds, lasso_rounds, linear_turns


def recorded(folder, arrays, name="turns.npz"):
    """The recorded environment of some arrays."""
    path = folder / name
    np.savez(path, **arrays)
    return fb.environment("recorded", path=str(path))


def arrays_for(algorithm, seed=0, continuous=False):
    """A small recorded world of the kind that an algorithm says it needs, with few clients and turns.

    `continuous` rewards are all different, so that each can be recognised; others may be 0 or 1.
    """
    if algorithm.duels:
        return dueling_rounds(seed, rounds=12, clients=3, arms=4, dimension=3)
    if algorithm.shares_context:
        return lasso_rounds(seed, rounds=20, clients=3, arms=2, dimension=5)
    if algorithm.acts_in_rounds:
        link = "identity" if continuous else "logistic"
        return glm_rounds(seed, rounds=12, clients=3, arms=4, dimension=3, link=link)
    return linear_turns(seed, turns=60, clients=4, arms=4, dimension=3, skew=0.5)


def features_of(arrays):
    """What is on offer at each turn: features of each arm, or one context."""
    return arrays["context"] if "context" in arrays else arrays["arms"]


def step_by_hand(arrays, algorithm, seed=0, **parameters):
    """Play a recorded world with one `fb.Client` a client and one `fb.Server`, carrying every envelope by hand.

    Returns the choices, and the ledger's messages, scalars and bytes at the end of each turn.
    """
    kind = type(algorithm) if isinstance(algorithm, fb.Algorithm) else fb.algorithms[algorithm]
    order = arrays["client"]
    clients, features = int(order.max()) + 1, features_of(arrays)
    payoff = arrays["utility"] if kind.duels else arrays["reward"]
    sizes = {"clients": clients, "arms": payoff.shape[1], "dimension": features.shape[-1]}
    sizes["horizon"] = len(order) // clients if kind.acts_in_rounds else len(order)
    sites = [fb.Client(algorithm, number=each, seed=seed, **sizes, **parameters) for each in range(clients)]
    server = fb.Server(algorithm, **sizes, **parameters)
    together = clients if sites[0].node.side.cadence is Cadence.ROUND else 1
    ledger, choices, counted = Ledger(), [None] * len(order), []
    for start in range(0, len(order), together):
        turns = sorted(range(start, start + together), key=lambda turn: order[turn])
        for turn in turns:
            _carry(sites[order[turn]].ask(), sites, server, ledger)
            choices[turn] = sites[order[turn]].choose(features[turn])
        queue = [
            envelope
            for turn in turns
            for envelope in sites[order[turn]].learn(reward=_answer(arrays, turn, choices[turn]))
        ]
        counted += [(ledger.messages, ledger.scalars, ledger.bytes)] * (together - 1)
        _carry(queue, sites, server, ledger)
        counted.append((ledger.messages, ledger.scalars, ledger.bytes))
    return choices, counted


def _answer(arrays, turn, choice):
    if "utility" not in arrays:
        return arrays["reward"][turn, choice]
    margin = arrays["utility"][turn, choice[0]] - arrays["utility"][turn, choice[1]]
    return float(arrays["coin"][turn] < 1 / (1 + np.exp(-margin)))


def _carry(queue, sites, server, ledger):
    for envelope in queue:  # the list grows while it is read
        ledger.record(envelope)
        if envelope.is_upload:
            queue.extend(server.receive(envelope))
        else:
            for site in sites:
                queue.extend(site.receive(envelope))

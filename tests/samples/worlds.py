"""Small worlds to run on: recorded ones, from arrays, and a runner by hand to compare the engine with."""

import numpy as np

import fedbandit as fb
from fedbandit.nodes.ledger import Ledger


def recorded(folder, arrays, name="turns.npz"):
    """The recorded environment of some arrays."""
    path = folder / name
    np.savez(path, **arrays)
    return fb.environment("recorded", path=str(path))


def step_by_hand(world, algorithm, seed=0, **parameters):
    """Play a recorded world with one `fb.Client` a client and one `fb.Server`, carrying every envelope by hand.

    Returns the choices, and the ledger's messages, scalars and bytes after each turn.
    """
    clients = int(world["client"].max()) + 1
    sizes = {"dimension": world["arms"].shape[2], "arms": world["arms"].shape[1], "clients": clients}
    sizes["horizon"] = len(world["client"])
    sites = [fb.Client(algorithm, number=each, seed=seed, **sizes, **parameters) for each in range(clients)]
    server = fb.Server(algorithm, **sizes, **parameters)
    ledger, choices, counted = Ledger(), [], []
    for turn, client in enumerate(world["client"].tolist()):
        choices.append(sites[client].choose(world["arms"][turn]))
        queue = sites[client].learn(world["reward"][turn, choices[-1]])
        for envelope in queue:  # the list grows while it is read
            ledger.record(envelope)
            if envelope.is_upload:
                queue.extend(server.receive(envelope))
            else:
                for site in sites:
                    queue.extend(site.receive(envelope))
        counted.append((ledger.messages, ledger.scalars, ledger.bytes))
    return choices, counted

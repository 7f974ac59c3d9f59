"""What the server of Clustered-LinUCB has found out: who is told apart from whom, and who shares with whom."""

from __future__ import annotations

import numpy as np


def verdicts(state):
    """The matrix of who is told apart from whom."""
    clients = len(state.told.uploads)
    return np.unpackbits(state.verdicts.apart, axis=1, count=clients, bitorder="little").astype(bool)


def sets(bits, clients):
    return [set(np.flatnonzero(row)) for row in np.unpackbits(bits, axis=1, count=clients, bitorder="little")]

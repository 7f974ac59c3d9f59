"""Comparing runs."""

import numpy as np

COLUMNS = ("client", "choice", "reward", "regret", "propensity", "messages", "scalars", "bytes")


def assert_same_trace(one, other):
    """Two traces are the same to the last bit, in their turns and in their ledger."""
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.ledger == other.ledger
    assert one.rounds == other.rounds


class ByMessages:
    """An algorithm whose sides exchange every message, though a simulation could take a shortcut."""

    def __init__(self, algorithm):
        self._algorithm = algorithm

    def __getattr__(self, name):
        return getattr(self._algorithm, name)

    def federation(self, setting):
        return self._algorithm.federation(setting)._replace(shortcut=None)

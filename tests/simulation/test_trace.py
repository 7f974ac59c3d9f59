"""A trace books what the ledger has grown by."""

import numpy as np
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.simulation.trace import Trace


def test_an_empty_trace_has_room_for_every_turn():
    trace = Trace.empty(5)
    for name in ("client", "choice", "reward", "regret", "messages", "scalars", "bytes"):
        assert getattr(trace, name).shape == (5,)


def test_a_turn_is_charged_with_what_the_ledger_has_grown_by():
    trace = Trace.empty(3)
    ledger = trace.ledger
    ledger.messages, ledger.scalars, ledger.bytes = 2, 20, 200
    trace.book(1, (0, 0, 0))
    ledger.messages, ledger.scalars, ledger.bytes = 3, 25, 250
    trace.book(1, (2, 20, 200))
    ledger.bytes = 290
    trace.book(2, (3, 25, 250))
    assert trace.messages.tolist() == [0, 3, 0]
    assert trace.scalars.tolist() == [0, 25, 0]
    assert trace.bytes.tolist() == [0, 250, 40]
    assert trace.rounds == 1, "a turn has one at most, and an exchange of nothing but signals is none"


def test_rounds_are_charged_with_equal_shares():
    trace = Trace.empty(6)
    ledger = trace.ledger
    ledger.messages, ledger.scalars, ledger.bytes = 6, 60, 600
    trace.book(np.array([1, 3, 5]), (0, 0, 0), rounds=3)
    assert trace.messages.tolist() == [0, 2, 0, 2, 0, 2]
    assert trace.bytes.tolist() == [0, 200, 0, 200, 0, 200]
    assert trace.rounds == 3


def test_more_turns_than_memory_are_refused():
    with pytest.raises(InvalidInput, match="do not fit into memory"):
        Trace.empty(10**17)

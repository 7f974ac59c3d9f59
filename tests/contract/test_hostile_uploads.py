"""Whatever a hostile site writes into an upload, it is refused with a reason and changes nothing, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contract.honest_runs import OTHERS, HonestRun
from contract.small_worlds import deployed_names
from fedbandit.core.errors import ProtocolError
from fedbandit.core.messages import Layout
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.wire import decode, encode
from fedbandit.wire.state import encode_state

NUMBERS = [1e100, -1e100, 1e300, -1e300, np.nan, np.inf, -np.inf]
COUNTS = [-1, -30, -(2**62), 2**41, 2**62]
EACH = 3  # uploads of each kind that are tried
ROUNDED = [each for each in OTHERS if each[0].endswith("linucb")]


def changes(message):
    """Yield (what was changed, the message), for every field and every value that no honest site sends."""
    for name, layout in message.layout().items():
        value = getattr(message, name)
        if layout is Layout.HEADER:
            for count in COUNTS:
                yield f"{name}={count}", replace(message, **{name: np.array([count])})
            continue
        for number in NUMBERS:
            whole = np.full_like(value, number)
            yield f"all of {name}={number}", replace(message, **{name: whole})
            for place in {0, value[0].size - 1}:
                one = np.array(value)
                one.reshape(-1)[place] = number
                if layout is Layout.SYMMETRIC:
                    one[0] = np.triu(one[0]) + np.triu(one[0], 1).T
                yield f"{name}[{place}]={number}", replace(message, **{name: one})
        if value.any() and layout is Layout.SYMMETRIC and message.kind != "private.prefix":  # noise can
            yield f"-{name}", replace(message, **{name: -value})


class HostileRun(HonestRun):
    """Before an honest upload arrives, a hostile site sends all that can be made of it, in its place."""

    def __init__(self, *arguments, **parameters):
        super().__init__(*arguments, **parameters)
        self.tried: dict[str, int] = {}
        self.accepted: list[str] = []

    def upload(self, frame, now):
        message = decode(frame.body)
        self.tried[message.kind] = self.tried.get(message.kind, 0) + 1
        if self.tried[message.kind] <= EACH:
            with np.errstate(over="ignore"):
                for what, changed in changes(message):
                    self.attack(f"{message.kind} {what}", replace(frame, body=encode(changed)), now)
        super().upload(frame, now)

    def attack(self, what, frame, now):
        before = self.everything()
        verdict = self.server.receive(frame.to_bytes(), now, frame.client)
        if verdict.outcome is not Outcome.REFUSED or not verdict.reason or self.everything() != before:
            self.accepted.append(what)
            raise ProtocolError(f"{what} was taken in: {verdict}")

    def everything(self):
        server = self.server
        return encode_state(server.node.memory), encode_state(server.accounts), server.journal.size()


@pytest.mark.parametrize("name", deployed_names())
def test_impossible_values_are_refused_in_every_field_of_every_upload(name):
    run = HostileRun(name, rounds=12, seed=4).play()
    assert not run.accepted
    assert not run.refused, "and honest uploads are still taken in"


@pytest.mark.parametrize(("name", "parameters"), ROUNDED)
def test_so_they_are_where_sums_travel_rounded(name, parameters):
    run = HostileRun(name, rounds=12, seed=4, **parameters).play()
    assert not run.accepted
    assert not run.refused

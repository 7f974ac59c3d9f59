"""How requests find their SuperNodes, on a grid that answers as Flower's does."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.flower.apps import GridCarrier
from fedbandit.flower.plan import read_plan
from fedbandit.flower.rounds import SitesSilent
from fedbandit.flower.site import Request
from flower.worlds import federation, keys

FLOWER = SimpleNamespace(
    app=SimpleNamespace(
        ConfigRecord=dict,
        RecordDict=dict,
        Message=lambda content, dst_node_id, message_type: SimpleNamespace(
            content=content, to=dst_node_id, kind=message_type
        ),
    )
)
PLAN = read_plan(keys(federation("linear-ts", 3)))


class Grid:
    """SuperNodes by id, each with the number of its site; what has failed answers with an error."""

    def __init__(self, numbers, failed=()):
        self.numbers, self.failed = numbers, failed

    def get_node_ids(self):
        return list(self.numbers)

    def send_and_receive(self, messages, timeout):
        for each in messages:
            told = {"number": self.numbers[each.to]} if each.kind == "query" else {"frames": [b"%d" % each.to]}
            yield SimpleNamespace(
                metadata=SimpleNamespace(src_node_id=each.to),
                has_error=lambda node=each.to: node in self.failed,
                error=SimpleNamespace(reason="out of memory"),
                content={"fedbandit": told},
            )


def test_requests_go_by_the_numbers_of_sites_and_a_node_that_fails_is_told_of(caplog):
    grid = Grid({70: 2, 80: 0, 90: 1})
    carrier = GridCarrier(FLOWER, grid, PLAN)
    grid.failed = (80,)
    assert carrier.exchange({0: Request([]), 2: Request([])}, None) == {2: [b"70"]}
    assert caplog.messages == ["SuperNode 80 has failed: out of memory"]


def test_a_node_that_was_started_anew_takes_the_place_of_the_one_before():
    grid = Grid({70: 0, 80: 1, 90: 2})
    carrier = GridCarrier(FLOWER, grid, PLAN)
    grid.numbers = {70: 0, 85: 1, 90: 2}
    assert carrier.exchange({1: Request([])}, None) == {1: [b"85"]}


@pytest.mark.parametrize(
    ("grid", "kind", "sentence"),
    [
        (Grid({1: 0, 2: 1, 3: 1}), InvalidInput, "2 SuperNodes have partition-id 1: give each one of its own"),
        (
            Grid({1: 0, 2: 1, 3: 2, 4: 3}),
            InvalidInput,
            "there are 4 SuperNodes, but fedbandit.clients is 3: give as many",
        ),
        (
            Grid({1: 0, 2: 1, 3: 2}, failed=(3,)),
            SitesSilent,
            "sites 2 have not introduced themselves: see the warnings",
        ),
    ],
)
def test_what_cannot_begin_is_said_in_one_sentence(grid, kind, sentence):
    with pytest.raises(kind) as refused:
        GridCarrier(FLOWER, grid, PLAN)
    assert str(refused.value).startswith(sentence)

"""What operators ask a coordinator for: what is none of the three questions is refused in one sentence."""

import json

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.service.coordinator import changes

NONE = "this is no change: give names and values"


@pytest.mark.parametrize("do", ["change", "reload", "show"])
def test_what_can_be_asked_for(do):
    assert changes._read(json.dumps({"do": do, "values": {"noise": "0.5"}}).encode()) == {
        "do": do, "values": {"noise": "0.5"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (b"", NONE),
        (b"[]", NONE),
        (b"{}", NONE),
        (b'{"do": 3}', NONE),
        (b'{"do": "change", "values": {"noise": 0.5}}', NONE),
        (b'{"do": "change", "values": ["noise"]}', NONE),
        (b'{"do": "split"}', "this coordinator cannot 'split': is it of an earlier version than the command?"),
    ],
)
def test_what_cannot(asked, sentence):
    with pytest.raises(InvalidInput) as refused:
        changes._read(asked)
    assert str(refused.value).startswith(sentence)

"""Which field differs between two charters is said by name, with both values and what to do."""

from __future__ import annotations

import pytest

import fedbandit as fb
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import InvalidInput
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.charter_fields import differences, disagreement, require_agreed

SIZES = {"clients": 3, "arms": 2, "dimension": 4, "horizon": 100}


def charter(name="async-linucb", **given):
    sizes = {each: given.pop(each, usual) for each, usual in SIZES.items()}
    return Charter.named(name, fb.Setting(**sizes), **given)


HERE = charter()
OTHERS = {
    "dimension is 4 here and 5 in the federation": charter(dimension=5),
    "clients is 3 here and 9 in the federation": charter(clients=9),
    "ridge is 0.1 here and 2.0 in the federation": charter(ridge=2.0),
    "algorithm is 'async-linucb' here and 'sync-linucb' in the federation": charter("sync-linucb"),
    "discount is 1.0 here and 0.5 in the federation, epoch_seconds is None here and 60 in the federation": charter(
        discount=0.5, epoch_seconds=60
    ),
    "upload_threshold is 5.0 here and [1.0, 2.0, 3.0] in the federation": charter(upload_threshold=(1.0, 2.0, 3.0)),
}


@pytest.mark.parametrize("sentence", OTHERS)
def test_a_site_is_told_which_field_differs_and_what_to_do(sentence):
    here = charter(upload_threshold=5.0) if "upload_threshold" in sentence else HERE
    said = disagreement(here, Charter.from_text(OTHERS[sentence].text))
    assert said == (
        f"{sentence}: open the site with the federation's, as Site.join does; what it learns waits here until then"
    )


def test_sizes_that_need_not_be_known_and_limits_are_no_disagreement():
    assert disagreement(HERE, charter(arms=9, horizon=7, limits={"reward": 2.0})) == ""
    assert [each.name for each in differences(HERE, charter(arms=9, horizon=7))] == ["arms", "horizon"]


def test_a_file_of_another_federation_is_refused_by_the_field_that_differs():
    with pytest.raises(InvalidInput) as refused:
        charter(ridge=2.0, dimension=5).require(HERE.text, "the store")
    assert str(refused.value) == (
        "the store belongs to another federation, whose dimension is 4, not 5, ridge is 0.1, not 2.0: give the same, "
        "or begin with another"
    )


SAID = {
    "algorithm": ("sync-linucb", "algorithm is 'sync-linucb' here and 'async-linucb' in the federation: leave it out"),
    "dimension": (5, "dimension is 5 here and 4 in the federation: leave it out, or give 4"),
    "arms": (9, "arms is 9 here and 2 in the federation"),
    "ridge": (2, "ridge is 2.0 here and 0.1 in the federation: leave it out, or give 0.1"),
    "limits": ({"reward": 2.0}, "limits is {'reward': 2.0} here and {'reward': 1.0} in the federation"),
    "epoch_seconds": (60, "epoch_seconds is 60 here and None in the federation"),
    "rigde": (0.1, "unknown parameter of async-linucb 'rigde': did you mean 'ridge'?"),
    "delta": ("much", "delta must be a number, not 'much'"),
}


@pytest.mark.parametrize("name", SAID)
def test_a_program_that_says_otherwise_is_told_which_field_differs(name):
    value, sentence = SAID[name]
    with pytest.raises(InvalidInput) as refused:
        require_agreed(HERE.with_limits(Bounds(reward=1.0)), {name: value})
    assert str(refused.value).startswith(sentence)


def test_a_program_may_say_what_was_agreed_on():
    require_agreed(
        HERE.with_limits(Bounds(reward=1.0)), {**SIZES, "algorithm": "async-linucb", "limits": {"reward": 1}}
    )
    require_agreed(charter(upload_threshold=[1, 2, 3]), {"upload_threshold": (1.0, 2.0, 3.0), "noise": 0.1})


def test_limits_are_kept_in_the_text_and_change_no_meaning():
    limited = HERE.with_limits(Bounds(context=1.0, reward=2.0))
    read = Charter.from_text(limited.text)
    assert read.limits == {"context": 1.0, "reward": 2.0}
    assert (read, read.fingerprint) == (HERE, HERE.fingerprint)
    assert HERE.with_limits(Bounds()).text == HERE.text
    HERE.require(limited.text, "the store")

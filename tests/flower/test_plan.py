"""What the configuration of a Flower run says of a federation, and what it may not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.flower.plan import read_plan
from flower.worlds import federation, keys

PAGE = Path(__file__).parents[2] / "docs" / "flower.md"
GIVEN = keys(federation("fldb-ogd", 20))


def test_keys_of_the_app_itself_are_left_alone_and_the_horizon_counts_rounds_or_turns():
    assert read_plan({**GIVEN, "learning-rate": 0.1}).charter.setting.horizon == 20
    assert read_plan(keys(federation("async-linucb", 20))).charter.setting.horizon == 60


def test_algorithms_whose_messages_follow_any_turn_take_turns():
    assert not read_plan(GIVEN).takes_turns
    assert read_plan(keys(federation("sync-linucb", 20))).takes_turns


def test_limits_are_told_and_uploads_rest_on_as_many_observations_as_in_a_deployment():
    given = {name: value for name, value in keys(federation("async-linucb", 20)).items() if ".set." not in name}
    charter = read_plan({**given, "fedbandit.limits.reward": 1.0}).charter
    assert (charter.limits, charter.algorithm.smallest_upload) == ({"reward": 1.0}, 10)


def test_what_the_page_shows_is_a_federation():
    shown = PAGE.read_text(encoding="utf-8").partition('```toml title="pyproject.toml"')[2].partition("```")[0]
    plan = read_plan(keys(tomllib.loads(shown)["tool"]["flwr"]["app"]["config"]["fedbandit"]))
    assert (plan.charter.algorithm.id, plan.rounds, plan.charter.limits) == ("fedego-lasso", 500, {"reward": 1.0})


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"fedbandit.algoritm": "x"}, "unknown key 'fedbandit.algoritm': did you mean 'fedbandit.algorithm'?"),
        ({"fedbandit.rounds": "20"}, "fedbandit.rounds must be a whole number, not '20': give such a value"),
        ({"fedbandit.rounds": True}, "fedbandit.rounds must be a whole number, not True: give such a value"),
        ({"fedbandit.rounds": 0}, "fedbandit.rounds must be at least 1, not 0: give another number"),
        ({"fedbandit.seed": -1}, "fedbandit.seed must be at least 0, not -1: give another number"),
        ({"fedbandit.deadline": 0}, "fedbandit.deadline must be greater than 0, not 0: give seconds, or leave it out"),
        ({"fedbandit.clients": 0}, "fedbandit: clients must be a whole number of at least 1, not 0"),
        ({"fedbandit.set.step": 1}, "fedbandit: fldb-ogd has no parameter 'step'"),
        (
            {"fedbandit.set.secure_aggregation": True},
            "fedbandit.set.secure_aggregation needs sites that know each other",
        ),
        ({"fedbandit.limits.arms": 1.0}, "unknown key 'fedbandit.limits.arms'"),
        ({"fedbandit.limits.reward": -1.0}, "fedbandit: limits['reward'] must be a number greater than 0"),
        ({"fedbandit.algorithm": "fldb"}, "unknown algorithm 'fldb'"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(changed, sentence):
    with pytest.raises(InvalidInput) as refused:
        read_plan({**GIVEN, **changed})
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(
    ("name", "more", "sentence"),
    [
        ("private-linucb", {"epsilon": 1.0}, "fedbandit.algorithm private-linucb keeps an account of its noise"),
        ("one-ucb-glm", {}, "fedbandit.algorithm one-ucb-glm sends what sites have observed"),
        ("async-linucb", {"discount": 0.9}, "fedbandit.set.discount=0.9 forgets when epochs end"),
    ],
)
def test_what_needs_more_than_flower_carries_is_refused(name, more, sentence):
    given = keys(federation(name, 20)) | {f"fedbandit.set.{each}": value for each, value in more.items()}
    with pytest.raises(InvalidInput) as refused:
        read_plan(given)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("name", ["algorithm", "clients", "dimension", "rounds"])
def test_what_is_missing_is_named(name):
    given = {key: value for key, value in GIVEN.items() if key != f"fedbandit.{name}"}
    with pytest.raises(
        InvalidInput, match=rf"^fedbandit.{name} is missing: give it in \[tool.flwr.app.config.fedbandit\]$"
    ):
        read_plan(given)

"""The leaderboard page is made of the stored runs, and its choices are theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedbandit.environments.common_ground import REWARDS
from fedbandit.experiments.tuning import TUNED
from fedbandit.results.leaderboard import entries_of, figure_of, page_of

DOCS = Path(__file__).parents[2] / "docs"
EVIDENCE = DOCS / "evidence"


def test_the_page_is_made_of_the_stored_runs():
    assert (DOCS / "leaderboard.md").read_text("utf-8") == page_of(EVIDENCE)


@pytest.mark.parametrize("rewards", REWARDS)
def test_each_kind_of_rewards_has_its_figure(rewards):
    assert figure_of(rewards, EVIDENCE).exists()


@pytest.mark.parametrize("rewards", REWARDS)
def test_those_that_sent_nothing_are_those_declared_to_be_alone(rewards):
    sent = {entry.name: entry.leaves_sites for entry in entries_of(rewards, EVIDENCE)}
    assert {name for name in sent if sent[name] == "nothing"} == {name for name in sent if TUNED[name].alone}


@pytest.mark.parametrize("same", [("local-linucb", "linear-ucb", "n-ucb-glm"), ("pooled-linucb", "one-ucb-glm")])
def test_names_of_one_algorithm_have_one_regret_where_rewards_are_linear(same):
    regrets = {entry.name: entry.regret.values for entry in entries_of("linear", EVIDENCE)}
    assert {name: regrets[name] for name in same} == {name: pytest.approx(regrets[same[0]], rel=1e-6) for name in same}

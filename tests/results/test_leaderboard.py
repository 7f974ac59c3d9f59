"""The leaderboard: the page that is made of stored runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.leaderboard import REPORTED_SEEDS, SETTINGS, TUNING_SEEDS
from fedbandit.experiments.table import Measured
from fedbandit.experiments.tuning import TUNED
from fedbandit.files.amounts import shown_bytes
from fedbandit.results import leaderboard
from samples.made_up_leaderboard import store_made_up


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs") / "evidence"
    store_made_up(folder)
    return folder


def test_each_line_has_the_setting_that_tuning_chose_and_its_numbers_in_the_reported_worlds(folder):
    page = leaderboard.page_of(folder)
    lean = next(entry for entry in leaderboard.entries_of("linear", folder) if entry.name == "lean-linucb")
    first, *_, last = sorted(f"{row.mean('regret'):,.0f}" for row in lean.settings)
    numbers = f"{lean.regret} | {first} to {last} | {lean.bytes:.0f} B | {lean.bytes:.0f} | sums or models | 4.5 |"
    line = f"| 18 | `lean-linucb` | linear | arms | alpha 0.2, ridge 0.1 | {numbers}\n"
    assert page.count(line) == 2  # for each kind of rewards
    assert page.count("| 29 | `random` | baseline | arms |  | 2,901 ± ") == 2


def test_the_page_says_how_it_was_measured_and_where_the_runs_come_from(folder):
    page = leaderboard.page_of(folder)
    assert f"Each algorithm has {SETTINGS} settings" in page
    assert f"run on the same {TUNING_SEEDS} worlds" in page
    assert f"**Reported** are {REPORTED_SEEDS} other worlds" in page
    runs = (SETTINGS * (len(TUNED) - 1) + 1) * REPORTED_SEEDS
    assert f"- [leaderboard/linear](evidence/leaderboard/linear.csv): {runs:,} runs, " in page
    assert (
        "![Regret against bytes of all algorithms, logistic rewards](evidence/leaderboard/logistic/leaderboard.png)"
        in page
    )
    assert "\n\n\n" not in page


def test_sentences_name_the_best_without_raw_data_and_compare_it_with_all_and_none(folder):
    said = " ".join(leaderboard._sentences(leaderboard.entries_of("linear", folder)))
    assert "`async-linucb` has the least regret: 0.05 times that of `one-ucb-glm`, " in said
    assert "0.09 times that of `kernel-ts`, the best of those alone." in said
    assert "None of them within 2 times its regret sends fewer bytes." in said


def test_sentences_name_who_cannot_be_told_from_the_best_and_who_is_near_it_for_fewer_bytes(folder):
    first, second, third, *rest = leaderboard.entries_of("linear", folder)
    fewer = {**first.chosen.measured, "bytes": Measured((1.0,) * REPORTED_SEEDS)}
    near = replace(second, chosen=replace(first.chosen, measured=fewer))
    said = " ".join(leaderboard._sentences([first, near, replace(third, chosen=first.chosen), *rest]))
    assert f"the least regret (`{second.name}` and `{third.name}` cannot be told from it): " in said
    size = shown_bytes(first.bytes)
    assert f"`{second.name}` sends the fewest bytes, 1 B in place of {size}, and has 1.00 times the regret." in said


def test_duels_are_not_in_the_sentences(folder):
    entries = leaderboard.entries_of("linear", folder)
    dueling = next(entry for entry in entries if entry.name == "fldb-gd")
    ahead = [dueling, *(entry for entry in entries if entry is not dueling)]
    assert list(leaderboard._sentences(ahead)) == list(leaderboard._sentences(entries))


def test_without_stored_runs_the_page_says_how_to_make_them(tmp_path):
    with pytest.raises(InvalidInput, match=r"no runs of leaderboard/linear-tuning are stored .*: fedbandit reproduce"):
        leaderboard.page_of(tmp_path)

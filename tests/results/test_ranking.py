"""Who is where: the choice of settings, the order, and shared places."""

from __future__ import annotations

from fedbandit.experiments.table import Measured, Row, Table
from fedbandit.results.ranking import chosen_by, places, ranked

SEEDS = (0.0, 1.0, 2.0)


def row(series, point, regret, noise=SEEDS, size=7.0, seconds=(9.0, 1.0, 2.0)):
    measured = {
        "regret": Measured(tuple(regret + each for each in noise)),
        "bytes": Measured((size,) * 3),
        "processor_seconds": Measured(seconds),
    }
    return Row(series, point, {}, 10, measured)


TUNING = Table((
    row("lean-linucb", "a", 9), row("lean-linucb", "b", 5), row("lean-linucb", "c", 5),
    row("pooled-linucb", "a", 1), row("pooled-linucb", "b", 2), row("ldb", "a", 1),
))  # fmt: skip
REPORTED = Table((
    row("lean-linucb", "a", 1), row("lean-linucb", "b", 20), row("lean-linucb", "c", 2),
    row("pooled-linucb", "a", 10), row("pooled-linucb", "b", 0), row("ldb", "a", 30, size=0.0),
))  # fmt: skip


def test_the_setting_with_the_least_regret_in_tuning_is_chosen_and_of_equal_ones_the_first():
    assert chosen_by(TUNING) == {"lean-linucb": "b", "pooled-linucb": "a", "ldb": "a"}


def test_entries_have_the_chosen_setting_in_the_reported_worlds_whatever_would_have_been_better_there():
    entries = ranked(TUNING, REPORTED)
    assert [(each.name, each.chosen.point, each.regret.mean) for each in entries] == [
        ("pooled-linucb", "a", 11.0), ("lean-linucb", "b", 21.0), ("ldb", "a", 31.0),
    ]  # fmt: skip
    assert [row.point for row in entries[1].settings] == ["a", "b", "c"]


def test_an_entry_says_its_family_form_time_and_what_leaves_a_site():
    pooled, lean, ldb = ranked(TUNING, REPORTED)
    assert (lean.family, lean.form, lean.leaves_sites) == ("linear", "arms", "sums or models")
    assert (ldb.family, ldb.form, ldb.leaves_sites) == ("dueling", "duels", "nothing")
    assert pooled.leaves_sites == "raw data"
    assert pooled.processor_seconds == 2.0, "the first run compiles, and does not count"
    private, chance = (
        ranked(Table((each,)), Table((each,)))[0] for each in (row("private-linucb", "", 1), row("random", "", 1))
    )
    assert (private.leaves_sites, chance.family) == ("noised sums", "baseline")


def test_those_that_cannot_be_told_from_the_first_of_a_place_share_it():
    names = ("lean-linucb", "sync-linucb", "fedlinucb", "ldb", "random")
    noises = (SEEDS, (2.0, 0.0, 1.0), SEEDS, (2.0, 0.0, 1.0), SEEDS)
    regrets = (10.0, 10.5, 11.0, 11.2, 30.0)  # the third differs from the first by the same in every seed
    table = Table(tuple(row(*each, noise) for *each, noise in zip(names, names, regrets, noises, strict=True)))
    entries = ranked(table, table)
    assert [entry.name for entry in entries] == list(names)
    assert places(entries) == [1, 1, 3, 3, 5]

"""Tables on pages are those of stored runs: none is written by hand.

They stand between `<!-- table: NAME -->` and `<!-- end of table -->`; `python tests/docs/test_tables.py` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fedbandit.experiments.experiment import experiments
from fedbandit.experiments.table import Row, Table
from fedbandit.results.tables import read_runs

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"<!-- table: (\S+) -->\n(.*?)<!-- end of table -->", re.DOTALL)
MADE: dict[str, Callable[[], str]] = {}


def table(name: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Give a table its name."""

    def register(make: Callable[[], str]) -> Callable[[], str]:
        MADE[name] = make
        return make

    return register


def stored(name: str) -> Table:
    return read_runs(DOCS / "evidence" / f"{name}.csv", experiments[name])


def row(runs: Table, series: str, point: str = "") -> Row:
    (found,) = [each for each in runs.of(series) if each.point == point]
    return found


def with_error(found: Row, name: str) -> str:
    measured = found.measured[name]
    return f"{measured.mean:.2f} ± {measured.error:.2f}"


def count(value: float) -> str:
    """A number of messages or scalars, with three digits if it is large."""
    return f"{value / 1e6:.3g} M" if value >= 1e6 else f"{value:,.0f}"


def in_columns(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    lines = [head, ["---"] * left + ["---:"] * (len(head) - left), *rows]
    return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in lines)


@table("figure-4")
def figure_4() -> str:
    """Reward and messages on three data sets."""
    sets = {"LastFM": "lastfm", "Delicious": "delicious", "MovieLens 1M": "movielens"}
    runs = [stored(f"async-linucb/{name}") for name in sets.values()]
    wanted = [
        ("no communication", "No communication", ""),
        ("all data pooled", "All data pooled", ""),
        ("`async-linucb`, γ = 1.01", "Async-LinUCB", "γ=1.01"),
        ("γ = 2", "Async-LinUCB", "γ=2"),
        ("γ = 101", "Async-LinUCB", "γ=101"),
        ("γ = 6001", "Async-LinUCB", "γ=6001"),
        ("γ = 10^8", "Async-LinUCB", "γ=1e+08"),
        ("`async-linucb-am`, γ = 1.01", "Async-LinUCB-AM", "γ=1.01"),
        ("γ = 2", "Async-LinUCB-AM", "γ=2"),
        ("γ = 101", "Async-LinUCB-AM", "γ=101"),
        ("γ = 6001", "Async-LinUCB-AM", "γ=6001"),
        ("`sync-linucb`, D = 0.1", "Sync-LinUCB", "D=0.1"),
        ("D = 10", "Sync-LinUCB", "D=10"),
    ]
    rows = []
    for words, series, point in wanted:
        found = [row(each, series, point) for each in runs]
        cells = [cell for each in found for cell in (with_error(each, "normalised"), count(each.mean("messages")))]
        rows.append([words, *cells])
    return in_columns(["", *(cell for name in sets for cell in (name, "messages"))], rows)


@table("activity-groups")
def activity_groups() -> str:
    """Who uploads and who gains on Delicious, by how many turns a user had."""
    users = {
        "0-9": 177, "10-19": 119, "20-29": 126, "30-39": 176, "40-49": 236, "50-59": 373, "60-69": 309, "70-79": 255,
        "80-89": 68, "90 and more": 2,
    }  # fmt: skip
    runs = stored("async-linucb/activity-groups")
    alone, seldom, often = (row(runs, "Async-LinUCB", point) for point in ("γ=∞", "γ=6001", "γ=3"))
    rows = [
        [
            group, f"{many:,}", count(alone.mean(f"rewards {group}")),
            *(count(each.mean(f"{what} {group}")) for each in (seldom, often) for what in ("exchanges", "rewards")),
        ]
        for group, many in users.items()
    ]  # fmt: skip
    sums = [
        count(sum(each.mean(f"{what} {group}") for group in users))
        for each, what in ((alone, "rewards"), (seldom, "exchanges"), (seldom, "rewards"), (often, "exchanges"),
                           (often, "rewards"))
    ]  # fmt: skip
    rows.append(["sum", f"{sum(users.values()):,}", *sums])
    head = ["turns", "users", "γ = ∞: reward", "γ = 6001: uploads", "reward", "γ = 3: uploads", "reward"]
    return in_columns(head, rows)


@table("glb-movielens")
def glb_movielens() -> str:
    """Reward, messages and scalars of FedGLB-UCB and its rivals on MovieLens."""
    runs = stored("fedglb-ucb/movielens")
    wanted = [
        ("`fedglb-ucb`, D = 5", "FedGLB-UCB", "D=5"),
        ("D = 300", "FedGLB-UCB", "D=300"),
        ("D = 3000", "FedGLB-UCB", "D=3000"),
        ("with `solver=newton`, D = 5", "FedGLB-UCB, Newton", "D=5"),
        ("`fedglb-ucb-1`, B = 20", "variant 1", "B=20"),
        ("B = 100", "variant 1", "B=100"),
        ("`fedglb-ucb-2`, B = 20", "variant 2", "B=20"),
        ("B = 100", "variant 2", "B=100"),
        ("`fedglb-ucb-3`, B = 100", "variant 3", "B=100"),
        ("B = 1000", "variant 3", "B=1000"),
        ("`sync-linucb`, D = 0.3", "Sync-LinUCB", "D=0.3"),
        ("D = 300", "Sync-LinUCB", "D=300"),
        ("`one-ucb-glm`", "One-UCB-GLM", ""),
        ("`n-ons-glm`", "N-ONS-GLM", ""),
    ]
    rows = []
    for words, series, point in wanted:
        found = row(runs, series, point)
        cells = [count(found.mean(name)) for name in ("messages", "scalars")]
        rows.append([words, with_error(found, "normalised"), *cells])
    return in_columns(["", "reward", "messages", "scalars"], rows)


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_tables_are_those_of_stored_runs(page):
    for name, text in BLOCK.findall(page.read_text("utf-8")):
        assert text == MADE[name]()


def test_every_table_is_on_a_page():
    named = [name for page in DOCS.glob("*.md") for name, _ in BLOCK.findall(page.read_text("utf-8"))]
    assert sorted(named) == sorted(MADE)


if __name__ == "__main__":
    for each in DOCS.glob("*.md"):
        old = each.read_text("utf-8")
        made = BLOCK.sub(lambda m: f"<!-- table: {m[1]} -->\n{MADE[m[1]]()}<!-- end of table -->", old)
        if made != old:
            each.write_text(made, "utf-8")

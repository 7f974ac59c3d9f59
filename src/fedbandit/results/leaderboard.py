"""The leaderboard: a page of all algorithms on common ground, made of stored runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fedbandit.core.errors import InvalidInput
from fedbandit.environments.common_ground import REWARDS
from fedbandit.experiments.experiment import Experiment, experiments
from fedbandit.experiments.intervals import plain
from fedbandit.experiments.leaderboard import (
    EPSILON,
    REPORTED_SEEDS,
    ROUNDS,
    SETTINGS,
    TUNING_SEEDS,
    WORLD,
)
from fedbandit.files.amounts import lasting, shown_bytes
from fedbandit.results.ranking import Entry, places, ranked
from fedbandit.results.store import Stored, stored, where_from

FIGURE = "leaderboard.png"
TEXTS = ("algorithm", "family", "form", "setting", "leaves a site")  # columns that are no numbers
COLUMNS = ("place", *TEXTS[:4], "regret", "all settings", "bytes", "messages", TEXTS[4], "seconds")
WITHIN = 2  # times the least regret: what still counts as near it, in the sentences below the tables


def tuning_of(rewards: str) -> Experiment:
    """Return the experiment that chooses the settings for a kind of rewards."""
    return experiments[f"leaderboard/{rewards}-tuning"]


def reported_of(rewards: str) -> Experiment:
    """Return the experiment whose runs are reported for a kind of rewards."""
    return experiments[f"leaderboard/{rewards}"]


def experiments_behind() -> list[Experiment]:
    """Return the experiments behind the page."""
    return [each for rewards in REWARDS for each in (tuning_of(rewards), reported_of(rewards))]


def entries_of(rewards: str, folder: Path) -> list[Entry]:
    """Return the ranking for a kind of rewards, from what is stored in a folder."""
    return ranked(_stored(tuning_of(rewards), folder).table, _stored(reported_of(rewards), folder).table)


def figure_of(rewards: str, folder: Path) -> Path:
    """Return where the figure for a kind of rewards stands."""
    return folder / reported_of(rewards).id / FIGURE


def page_of(folder: Path) -> str:
    """Return the page, in Markdown; it stands beside the folder."""
    from jinja2 import Environment as Templates  # slow to import, and commands that write no page need not wait
    from jinja2 import PackageLoader

    kinds = []
    for rewards in REWARDS:
        entries = entries_of(rewards, folder)
        figure = figure_of(rewards, folder).relative_to(folder.parent).as_posix()
        table, sentences = ("\n".join(lines) for lines in (_table(entries), _sentences(entries)))
        kinds.append({"rewards": rewards, "table": table, "sentences": sentences, "figure": figure})
    kept = {each.id: _stored(each, folder) for each in experiments_behind()}
    worked = sum(sum(row.measured["processor_seconds"].values) for each in kept.values() for row in each.table.rows)
    templates = Templates(
        loader=PackageLoader("fedbandit.results", "templates"), trim_blocks=True, keep_trailing_newline=True
    )
    return templates.get_template("leaderboard.md").render(
        world=WORLD, rounds=ROUNDS, settings=SETTINGS, tuning_seeds=TUNING_SEEDS, reported_seeds=REPORTED_SEEDS,
        epsilon=f"{EPSILON:g}", kinds=kinds,
        where_from="\n".join(where_from(kept, folder)), processor_time=lasting(worked),
    )  # fmt: skip


def _stored(experiment: Experiment, folder: Path) -> Stored:
    found = stored(experiment, folder)
    if found is None:
        raise InvalidInput(f"no runs of {experiment.id} are stored in {folder}: fedbandit reproduce {experiment.id}")
    return found


def _table(entries: Sequence[Entry]) -> Iterator[str]:
    yield f"| {' | '.join(COLUMNS)} |"
    yield f"| {' | '.join('---' if name in TEXTS else '---:' for name in COLUMNS)} |"
    for place, entry in zip(places(entries), entries, strict=True):
        means = [row.mean("regret") for row in entry.settings]
        every = f"{plain(min(means), 3)} to {plain(max(means), 3)}" if len(means) > 1 else ""
        cells = (
            str(place), f"`{entry.name}`", entry.family, entry.form, entry.chosen.point, str(entry.regret), every,
            shown_bytes(entry.bytes), f"{entry.chosen.mean('messages'):,.0f}", entry.leaves_sites,
            f"{entry.processor_seconds:.2g}",
        )  # fmt: skip
        yield f"| {' | '.join(cells)} |"


def _sentences(entries: Sequence[Entry]) -> Iterator[str]:
    """Say who is ahead of those that learn from rewards without raw data, and who is near it for the fewest bytes."""
    rewarded = [entry for entry in entries if entry.form != "duels"]
    alone = next(entry for entry in rewarded if entry.leaves_sites == "nothing")
    pooled = next(entry for entry in rewarded if entry.leaves_sites == "raw data")
    federated = [entry for entry in rewarded if entry.leaves_sites not in ("nothing", "raw data")]
    best = federated[0]
    level = [f"`{entry.name}`" for place, entry in zip(places(federated), federated, strict=True) if place == 1]
    beside = f" ({_listed(level[1:])} cannot be told from it)" if level[1:] else ""
    yield (
        f"Of those that learn together from rewards, and keep raw data at home, `{best.name}` has the least regret"
        f"{beside}: {_times(best, pooled)} that of `{pooled.name}`, the best with all raw data in one place, and "
        f"{_times(best, alone)} that of `{alone.name}`, the best of those alone."
    )
    near = [entry for entry in federated if entry.regret.mean <= WITHIN * best.regret.mean]
    lightest = min(near, key=lambda entry: entry.bytes)
    if lightest is best:
        yield f"None of them within {WITHIN} times its regret sends fewer bytes."
        return
    yield (
        f"Of those within {WITHIN} times its regret `{lightest.name}` sends the fewest bytes, "
        f"{shown_bytes(lightest.bytes)} in place of {shown_bytes(best.bytes)}, and has {_times(lightest, best)} the "
        "regret."
    )


def _listed(names: Sequence[str]) -> str:
    """Return names as a sentence has them.

    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _times(one: Entry, other: Entry) -> str:
    return f"{one.regret.mean / other.regret.mean:.2f} times"

"""Verdicts on pages are those of stored runs: none is written by hand.

A page shows the verdicts of an experiment between `<!-- verdicts: ID -->` and `<!-- end of verdicts -->`, judged from
the runs in docs/evidence/ID.csv, of claims whose series are all stored there. The evidence book has all of them.
`python tests/docs/test_evidence.py` writes them into the pages.
"""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import pytest

from fedbandit.experiments.experiment import experiments
from fedbandit.results.book import page_of
from fedbandit.results.everything import panels_of
from fedbandit.results.provenance import MADE
from fedbandit.results.tables import read_runs

ROOT = Path(__file__).parents[2]
EVIDENCE = ROOT / "docs" / "evidence"
STORED = sorted(path.relative_to(EVIDENCE).with_suffix("").as_posix() for path in EVIDENCE.rglob("*.csv"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"<!-- verdicts: (\S+) -->\n(.*?)<!-- end of verdicts -->", re.DOTALL)
BY_HAND = re.compile(r"\*\*(?:holds|does not(?: hold)?|mixed|level|cannot be judged|cannot be seen)\*\*|\(level\)")


def verdicts(name: str) -> str:
    """The lines of a page about one experiment: each claim, its answer, and the numbers behind it."""
    experiment = experiments[name]
    table = read_runs(EVIDENCE / f"{name}.csv", experiment)
    lines = []
    for claim in experiment.claims:
        if not set(claim.about()) <= set(table.labels()):
            continue
        answer, evidence = claim.judge(table)
        lines += textwrap.wrap(
            f"- {claim.sentence}: **{answer}**: {evidence}.", 120, subsequent_indent="  ", break_on_hyphens=False
        )
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("name", STORED)
def test_stored_runs_are_those_of_whole_series(name):
    experiment = experiments[name]
    table = read_runs(EVIDENCE / f"{name}.csv", experiment)
    stored = [series for series in experiment.series if series.label in table.labels()]
    declared = [(series.label, point.label) for series in stored for point in series.points]
    assert [(row.series, row.point) for row in table.rows] == declared
    assert {row.measured["reward"].seeds for row in table.rows} == {experiment.seeds}


@pytest.mark.parametrize("name", STORED)
def test_stored_runs_say_where_they_come_from(name):
    about = json.loads((EVIDENCE / f"{name}.json").read_text("utf-8"))
    assert {"size", "seeds", "world", *MADE} <= set(about)
    assert (about["size"], about["seeds"]) == ("full", str(experiments[name].seeds))


def test_the_evidence_book_is_made_of_the_stored_runs():
    assert (ROOT / "docs" / "evidence.md").read_text("utf-8") == page_of(panels_of(None), EVIDENCE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_verdicts_on_other_pages_are_those_of_stored_runs(page):
    for name, text in BLOCK.findall(page.read_text("utf-8")):
        assert text == verdicts(name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_verdict_is_written_by_hand(page):
    assert BY_HAND.findall(BLOCK.sub("", page.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("async-linucb/homogeneous-skewed", "Async-LinUCB needs fewer messages than Sync-LinUCB at equal regret"),
        ("fedglb-ucb/movielens", "FedGLB-UCB needs fewer scalars than Sync-LinUCB at equal reward"),
    ],
)
def test_the_readme_has_the_words_of_the_page(name, claim):
    page = " ".join(verdicts(name).split())
    said = re.search(rf"{claim} \(figure 2b\): \*\*(.*?)\*\*", page)
    assert f"{claim} *{said[1]}* here" in " ".join((ROOT / "README.md").read_text("utf-8").split())


if __name__ == "__main__":
    for each in PAGES:
        old = each.read_text("utf-8")
        made = BLOCK.sub(lambda m: f"<!-- verdicts: {m[1]} -->\n{verdicts(m[1])}<!-- end of verdicts -->", old)
        if made != old:
            each.write_text(made, "utf-8")

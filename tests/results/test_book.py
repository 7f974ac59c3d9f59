"""The evidence book: what is stored of an experiment, and the page that is made of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import fedbandit as fb
from fedbandit.experiments.claims import Monotone
from fedbandit.experiments.figures import TradeOff
from fedbandit.experiments.panel import Panel, Published, Said
from fedbandit.results import book
from fedbandit.results.everything import folder_of
from samples.small_experiment import SMALL

CLAIM = Monotone("Regret falls with messages", ("Async",), "messages")
EXPERIMENT = replace(SMALL, figures=(TradeOff(x="messages", y="regret"),), claims=(CLAIM,))
PANEL = Panel(
    "test", "figure 1", "what it shows", EXPERIMENT.id, ("trade-off",),
    (Said("the more messages, the less regret", ("Regret falls",)), Said("indeed", ("Regret falls",)),
     Said("it is pretty", unanswered="no number is")),
    (Published(12.5, "regret", "Local", "", "table 2", error=0.5), Published(1.0, "regret", "Sync", "", "table 2")),
)  # fmt: skip


@pytest.fixture
def panels(monkeypatch):
    """One panel with its experiment, and one of an experiment that nobody has run."""
    other = replace(EXPERIMENT, id="test/other")
    known = {EXPERIMENT.id: EXPERIMENT, other.id: other}
    monkeypatch.setattr(Panel, "made_by", lambda self: known[self.experiment])
    return [PANEL, replace(PANEL, place="figure 2", experiment=other.id)]


def test_only_what_is_whole_is_stored(tmp_path):
    results, to = tmp_path / "results", tmp_path / "docs" / "evidence"
    fb.reproduce(replace(EXPERIMENT, seeds=2), folder_of(EXPERIMENT, results))
    assert not book.store(EXPERIMENT, results, to)
    assert not to.exists()
    fb.reproduce(EXPERIMENT, folder_of(EXPERIMENT, results))
    assert book.store(EXPERIMENT, results, to)
    assert (to / "test" / "small.csv").read_bytes() == (results / "test" / "small" / "runs.csv").read_bytes()
    assert (to / "test" / "small" / "trade-off.png").exists()
    about = json.loads((to / "test" / "small.json").read_text())
    assert (about["size"], about["seeds"]) == ("full", "3")
    assert {"code", "versions", "machine", "world"} <= set(about)


def test_the_page_has_every_panel_with_words_verdicts_figures_and_published_numbers(tmp_path, panels):
    results, to = tmp_path / "results", tmp_path / "evidence"
    found = fb.reproduce(EXPERIMENT, folder_of(EXPERIMENT, results))
    book.store(EXPERIMENT, results, to)
    page = book.page_of(panels, to)
    answer = found.verdicts[0][1]
    counted = " | ".join(str(int(each == answer.answer)) for each in book.ANSWERS)
    assert f"| test | 2 | 1 | {counted} |" in page
    assert "### figure 1: what it shows\n\n[test/small](evidence/test/small.csv): size: full; seeds: 3; world: " in page
    assert "![what it shows](evidence/test/small/trade-off.png)" in page
    judged = f"- {CLAIM.sentence}: *{answer.answer}*: {answer.evidence}.\n"
    assert f"> the more messages, the less regret\n>\n> indeed\n\n{judged}" in page
    assert page.count(judged) == 1
    assert "> it is pretty\n\n- not judged: no number is\n" in page
    (row,) = found.table.of("Local")
    assert f"| Local |  | regret | 12.5 ± 0.5 | {book.plain(row.mean('regret'))} | table 2 |" in page
    assert "| Sync |  | regret | 1 |  | table 2 |" in page
    assert "### figure 2: what it shows\n\nNo runs are stored: `fedbandit reproduce test/other`\n" in page


def test_claims_about_series_that_are_not_stored_are_not_judged(tmp_path, panels):
    to = tmp_path / "evidence"
    fb.reproduce(EXPERIMENT, tmp_path / "made")
    (to / "test").mkdir(parents=True)
    head, *lines = (tmp_path / "made" / "runs.csv").read_text().splitlines()
    (to / "test" / "small.csv").write_text("\n".join([head, *(each for each in lines if each.startswith("Local"))]))
    page = book.page_of(panels, to)
    assert "[test/small](evidence/test/small.csv): seeds: 3\n" in page
    assert CLAIM.sentence not in page

"""The evidence book: the page that is made of stored runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fedbandit as fb
from fedbandit.experiments.claims import Monotone
from fedbandit.experiments.figures import TradeOff
from fedbandit.experiments.panel import Panel, Published, Quote
from fedbandit.experiments.table import Measured
from fedbandit.results import book
from fedbandit.results.everything import folder_of
from fedbandit.results.store import store
from samples.small_experiment import SMALL

CLAIM = Monotone("Regret falls with messages", ("Async",), "messages")
EXPERIMENT = replace(SMALL, figures=(TradeOff(x="messages", y="regret"),), claims=(CLAIM,))
PANEL = Panel(
    "test", "figure 1", "what it shows", EXPERIMENT.id, ("trade-off",),
    (Quote("the more messages, the less regret", ("Regret falls",)), Quote("indeed", ("Regret falls",)),
     Quote("it is pretty", unanswered="no number is")),
    (Published(12.5, "regret", "Local", "", "table 2", error=0.5), Published(1.0, "regret", "Sync", "", "table 2")),
)  # fmt: skip


@pytest.fixture
def panels(monkeypatch):
    """One panel with its experiment, and one of an experiment that nobody has run."""
    other = replace(EXPERIMENT, id="test/other")
    known = {EXPERIMENT.id: EXPERIMENT, other.id: other}
    monkeypatch.setattr(Panel, "made_by", lambda self: known[self.experiment])
    return [PANEL, replace(PANEL, place="figure 2", experiment=other.id)]


def test_the_page_has_every_panel_with_words_verdicts_figures_and_published_numbers(tmp_path, panels):
    results, to = tmp_path / "results", tmp_path / "evidence"
    found = fb.reproduce(EXPERIMENT, folder_of(EXPERIMENT, results))
    store(EXPERIMENT, results, to)
    page = book.page_of(panels, to)
    answer = found.verdicts[0][1]
    counted = " | ".join(str(int(each == answer.answer)) for each in book.ANSWERS)
    assert f"| test | 2 | 1 | {counted} |" in page
    assert f"| [figure 1](#test-figure-1-what-it-shows) | what it shows | {answer.answer} 1 |" in page
    assert "| [figure 2](#test-figure-2-what-it-shows) | what it shows | no runs are stored |" in page
    assert "### test, figure 1: what it shows\n\n![what it shows](evidence/test/small/trade-off.png)\n" in page
    judged = f"- {CLAIM.sentence}: *{answer.answer}*<br><small>{answer.evidence}</small>\n"
    assert f"> the more messages, the less regret\n>\n> indeed\n\n{judged}" in page
    assert page.count(judged) == 1
    assert "> it is pretty\n\n- not judged: no number is\n" in page
    (row,) = found.table.of("Local")
    assert f"| Local |  | regret | 12.5 ± 0.5 | {Measured(tuple(row.values('regret')))} | table 2 |" in page
    assert "| Sync |  | regret | 1 |  | table 2 |\n\n[test/small](evidence/test/small.csv), 3 seeds\n" in page
    assert "### test, figure 2: what it shows\n\nNo runs are stored: `fedbandit reproduce test/other`\n" in page
    where = page.partition("### test, where the runs come from\n\n")[2]
    assert where.startswith("- [test/small](evidence/test/small.csv): 12 runs, ")
    assert (
        " one after the other; size: full; seeds: 3; world: linear (clients=5, dimension=3), 50 turns; code: " in where
    )


def test_claims_about_series_that_are_not_stored_are_not_judged(tmp_path, panels):
    to = tmp_path / "evidence"
    fb.reproduce(EXPERIMENT, tmp_path / "made")
    (to / "test").mkdir(parents=True)
    head, *lines = (tmp_path / "made" / "runs.csv").read_text().splitlines()
    (to / "test" / "small.csv").write_text("\n".join([head, *(each for each in lines if each.startswith("Local"))]))
    (to / "test" / "small.json").write_text('{"seeds": "3"}')
    page = book.page_of(panels, to)
    assert "; seeds: 3\n" in page
    assert CLAIM.sentence not in page
    assert "| what it shows | the paper says nothing that a number answers |" in page

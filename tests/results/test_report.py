"""The report page: verdicts, figures and numbers in one file that needs nothing else."""

import math
import re
from dataclasses import replace

from fedbandit.experiments.claims import Verdict
from fedbandit.experiments.experiment import Experiment, Series
from fedbandit.experiments.table import QUANTITIES, Measured, Row, Table
from fedbandit.results.report import write_report
from samples.tables import spread

EXPERIMENT = Experiment(
    id="test/<b>", title="A & B <script>", environment="linear", series=(Series("A", "local-linucb"),), notes="1 < 2"
)


def table(**changes):
    values = {name: spread(2.5, 1.0, 4) for name in QUANTITIES}
    return Table((Row("γ <i>", "p", {}, 3, {**values, **changes}),))


def page(folder, experiment=EXPERIMENT, verdicts=(), figures=(), numbers=None):
    path = write_report(experiment, numbers or table(), verdicts, figures, folder, {"machine": "an abacus"})
    assert path == folder / "report.html"
    return path.read_text(encoding="utf-8")


def test_what_came_out_stands_in_the_page(tmp_path):
    drawing = tmp_path / "figure.svg"
    drawing.write_text('<?xml version="1.0"?>\n<svg id="drawing"><path d="M0 0"/></svg>')
    html = page(
        tmp_path,
        verdicts=[("It works", Verdict("does not hold", "5 > 3"))],
        figures=[tmp_path / "figure.png", drawing],
    )
    assert '<svg id="drawing"><path d="M0 0"/></svg>' in html, "drawings stand in the page itself"
    assert "<?xml" not in html
    assert "It works" in html
    assert '<span class="answer does">does not hold</span>' in html
    assert "5 &gt; 3" in html
    assert "2.5 ± 0.5" in html
    assert "Made by: fedbandit reproduce" in html


def test_names_and_notes_are_shown_as_they_are_written(tmp_path):
    html = page(tmp_path)
    for raw in ("<b>", "<script>", "<i>", "1 < 2"):
        assert raw not in html
    for escaped in ("A &amp; B &lt;script&gt;", "γ &lt;i&gt;", "1 &lt; 2"):
        assert escaped in html


def test_the_page_needs_nothing_from_elsewhere(tmp_path):
    links = re.findall(r'(?:src|href)="([^"]*)"', page(tmp_path))
    assert links == ["table.csv", "runs.csv"]


def test_without_notes_or_claims_there_is_no_room_for_them(tmp_path):
    html = page(tmp_path, experiment=replace(EXPERIMENT, notes=""))
    assert "What is claimed" not in html


def test_quantities_that_no_row_knows_have_no_column(tmp_path):
    unknown = table(regret=Measured((math.nan,) * 4), later_regret=Measured((math.nan,) * 4))
    assert "regret" not in unknown.columns()
    assert "reward" in unknown.columns()
    assert "<th>regret</th>" not in page(tmp_path, numbers=unknown)

"""The report page of an experiment: verdicts, figures and the table in one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fedbandit.experiments.claims import Verdict
from fedbandit.experiments.experiment import Experiment
from fedbandit.experiments.table import Table
from fedbandit.results.tables import read_table


def write_report(
    experiment: Experiment,
    table: Table,
    verdicts: Sequence[tuple[str, Verdict]],
    figures: Sequence[Path],
    folder: Path,
    about: Mapping[str, str],
) -> Path:
    """Write `report.html`, which says `about` its numbers where they come from; return its path."""
    from jinja2 import Environment as Templates  # slow to import, and columns are named without it
    from jinja2 import PackageLoader
    from markupsafe import Markup

    templates = Templates(loader=PackageLoader("fedbandit.results", "templates"), autoescape=True)
    drawings = [Markup(inline_svg(path)) for path in figures if path.suffix == ".svg"]
    page = templates.get_template("report.html").render(
        experiment=experiment,
        table=table,
        columns=table.columns(),
        verdicts=verdicts,
        drawings=drawings,
        tables=[read_table(path) for path in figures if path.suffix == ".csv"],
        provenance=about,
    )
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


def inline_svg(path: Path) -> str:
    """Return a drawing as it stands within a page."""
    text = path.read_text(encoding="utf-8")
    return text[text.index("<svg") :]

"""The report page of an experiment: verdicts, figures and the table in one HTML file that needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from fedbandit.experiments.claims import Verdict
from fedbandit.experiments.experiment import Experiment
from fedbandit.experiments.table import Measured, Table
from fedbandit.results.provenance import provenance
from fedbandit.results.tables import read_table

COLUMNS = ("normalised", "regret", "later_regret", "reward", "messages", "scalars", "bytes", "rounds", "seconds")


def write_report(
    experiment: Experiment,
    table: Table,
    verdicts: Sequence[tuple[str, Verdict]],
    figures: Sequence[Path],
    folder: Path,
) -> Path:
    """Write `report.html`; return its path."""
    from jinja2 import Environment as Templates  # slow to import, and columns are named without it
    from jinja2 import PackageLoader
    from markupsafe import Markup

    templates = Templates(loader=PackageLoader("fedbandit.results", "templates"), autoescape=True)
    templates.filters["measured"] = measured
    drawings = [Markup(_inline(path)) for path in figures if path.suffix == ".svg"]
    page = templates.get_template("report.html").render(
        experiment=experiment,
        table=table,
        columns=known_columns(table),
        verdicts=verdicts,
        drawings=drawings,
        tables=[read_table(path) for path in figures if path.suffix == ".csv"],
        provenance=provenance(experiment),
    )
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


def measured(value: Measured) -> str:
    """Return a quantity with its standard error, as a person would write it.

    >>> measured(Measured((10.0, 12.0, 14.0)))
    '12 ± 1.2'
    >>> measured(Measured((1234567.0, 1234567.0)))
    '1,234,567'
    """
    shown = f"{value.mean:,.0f}" if abs(value.mean) >= 1000 else f"{value.mean:.3g}"
    if value.seeds < 2 or value.error == 0:
        return shown
    error = f"{value.error:,.0f}" if value.error >= 10 else f"{value.error:.2g}"
    return f"{shown} ± {error}"


def known_columns(table: Table) -> list[str]:
    """Return the quantities that at least one row knows."""
    nothing = Measured((math.nan,))
    return [name for name in COLUMNS if any(not math.isnan(row.measured.get(name, nothing).mean) for row in table.rows)]


def _inline(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return text[text.index("<svg") :]

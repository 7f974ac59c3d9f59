"""The folder of advice: a report, a figure, all numbers, and the files of the advised federation, ready to serve."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fedbandit.advice.advice import Advice, described, parameters_of, parameters_to_deploy
from fedbandit.advice.drawing import draw_frontier
from fedbandit.advice.frontier import Point
from fedbandit.advice.program import program_of
from fedbandit.advice.table import HEAD, lines_of
from fedbandit.core.deadlines import MeetsDeadlines
from fedbandit.core.errors import InvalidInput
from fedbandit.core.version import VERSION
from fedbandit.features.writing import feature_line
from fedbandit.results.report import inline_svg

NAME = "advised"  # of the federation
BROKER = "nats://127.0.0.1:4222"
COORDINATOR = "coordinator.toml"
DEADLINE = 30  # seconds after which a synchronisation goes on without sites that are silent


def write_advice(advice: Advice, folder: Path) -> Path:
    """Write everything; what an earlier advice left there and this one has not is removed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"cannot make the folder {folder} ({error.strerror}): choose another") from None
    figures = draw_frontier(advice, folder)
    _write(folder / "report.html", _page(advice, figures))
    _write(folder / "advice.json", json.dumps(summary_of(advice), indent=2) + "\n")
    _write(folder / "features.toml", None if advice.log.features is None else advice.log.features.toml)
    _write(folder / COORDINATOR, coordinator_of(advice) if advice.choice.helps else None)
    _write(folder / "site.py", program_of(advice, f"{BROKER}/{NAME}"))
    return folder


def _write(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink(missing_ok=True)
    else:
        path.write_text(text, encoding="utf-8")


def coordinator_of(advice: Advice) -> str:
    """Return the file that `fedbandit serve` takes."""
    log = advice.log
    size = {"dimension": log.dimension} if log.features is None else {"features": "features.toml"}
    table: dict[str, Any] = {
        "algorithm": advice.algorithm.id,
        "clients": len(log.sites),
        **size,
        "set": parameters_to_deploy(advice.algorithm),
        "limits": {"context": log.longest_vector, "reward": log.largest_reward},
    }
    if isinstance(advice.algorithm.federation(log.setting).server, MeetsDeadlines):
        table["deadline"] = DEADLINE
    lines = [
        "# Made by fedbandit advise. With tls:// in place of nats:// sites are known by their certificates.",
        feature_line("broker", BROKER),
        feature_line("journal", "journals"),
        feature_line("http", "127.0.0.1:8080"),
        "",
        f"[federations.{NAME}]",
        *(feature_line(name, value) for name, value in table.items()),
    ]
    return "\n".join(lines) + "\n"


def summary_of(advice: Advice) -> dict[str, Any]:
    """Return everything, ready for JSON; what is not known is None."""
    log = advice.log
    return {
        "version": VERSION,
        "sentence": advice.sentence,
        "algorithm": advice.algorithm.id,
        "parameters": parameters_to_deploy(advice.algorithm),
        "helps": advice.choice.helps,
        "is_sure": advice.is_sure,
        "doubts": advice.doubts,
        "gain": advice.choice.gain,
        "gain_interval": advice.choice.gain_interval,
        "bytes_a_day_band": advice.bytes_a_day_band,
        "budget_bytes_a_day": advice.budget,
        "idle_bytes_a_day": advice.idle,
        "every": advice.every,
        "rows": len(log),
        "sites": list(log.sites),
        "days": log.days,
        "dimension": log.dimension,
        "explore": {name: getattr(advice.exploring, name) for name in ("share", "regret", "bytes")},
        "smallest_upload": asdict(advice.uploads),
        "warm_start": asdict(advice.warm_start),
        "bytes_a_day_of_logged_choices": advice.logged_bytes / log.days + advice.idle,
        "checks": {**_known(asdict(advice.checks)), "warnings": advice.checks.warnings},
        "frontier": [_point(advice, each) for each in advice.points],
        "notes": advice.notes,
    }  # fmt: skip


def _point(advice: Advice, point: Point) -> dict[str, Any]:
    numbers = asdict(point)
    del numbers["candidate"]
    return {
        "setting": described(point), "algorithm": point.candidate.name,
        "parameters": parameters_of(point.candidate.algorithm), **_known(numbers),
        "bytes_a_day": advice.bytes_a_day(point),
    }  # fmt: skip


def _known(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _known(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_known(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _page(advice: Advice, figures: list[Path]) -> str:
    from jinja2 import ChoiceLoader, PackageLoader
    from jinja2 import Environment as Templates
    from markupsafe import Markup

    places = [PackageLoader(package, "templates") for package in ("fedbandit.advice", "fedbandit.results")]
    templates = Templates(loader=ChoiceLoader(places), autoescape=True)
    log = advice.log
    svg = next(path for path in figures if path.suffix == ".svg")
    return templates.get_template("advice.html").render(
        advice=advice,
        title="What would federation have bought?",
        size=f"{len(log):,} decisions of {len(log.sites)} sites in {log.days:,.3g} days, {log.dimension} coordinates",
        warnings=advice.checks.warnings,
        findings=advice.checks.findings,
        notes=advice.notes,
        drawing=Markup(inline_svg(svg)),
        draws=advice.point.draws,
        head=HEAD,
        lines=lines_of(advice),
        version=VERSION,
    )

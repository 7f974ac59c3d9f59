"""The evidence book: the runs of full reproductions, stored as small tables, and a page of all panels made of these.

STORE/ID.csv           one line a run, with everything measured
STORE/ID.json          where the numbers come from: seeds, world, commit, versions, machine, data
STORE/ID/FIGURE.png    the figures
"""

from __future__ import annotations

import json
import platform
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fedbandit.experiments.experiment import Experiment
from fedbandit.experiments.intervals import plain
from fedbandit.experiments.panel import Panel, Published, Said
from fedbandit.experiments.table import Table
from fedbandit.results.everything import Forecast, folder_of, planned
from fedbandit.results.provenance import provenance
from fedbandit.results.tables import read_runs

ANSWERS = ("holds", "level", "mixed", "does not hold", "cannot be judged")
HEAD = """# The evidence book

Every panel of the five papers' figures and tables: what the paper says of it, what became of that here, and published
numbers beside ours. `fedbandit book` makes this page of stored runs, from which the [verdicts](reproducing.md#verdicts)
are judged, by paired differences over seeds. A panel without stored runs names the command that makes them.
"""


def store(experiment: Experiment, results: Path, to: Path) -> bool:
    """Store an experiment whose runs are all there, made by the code as it is; tell whether they are."""
    if planned(experiment, results, Forecast()).missing:
        return False
    made, folder = folder_of(experiment, results), to / experiment.id
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(made / "runs.csv", folder.with_suffix(".csv"))
    about = {**provenance(experiment), "machine": f"{platform.system()} on {platform.machine()}"}
    folder.with_suffix(".json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    for figure in experiment.figures:
        shutil.copyfile(made / f"{figure.file_name}.png", folder / f"{figure.file_name}.png")
    return True


@dataclass(frozen=True)
class Stored:
    """What is stored of an experiment."""

    table: Table
    about: dict[str, str]


def stored(experiment: Experiment, folder: Path) -> Stored | None:
    """Return what is stored of an experiment, None if nothing is."""
    path = folder / f"{experiment.id}.csv"
    if not path.exists():
        return None
    about = path.with_suffix(".json")
    known = json.loads(about.read_text(encoding="utf-8")) if about.exists() else {}
    return Stored(read_runs(path, experiment), known)


def page_of(panels: Sequence[Panel], folder: Path) -> str:
    """Return the page, in Markdown; it stands beside the folder."""
    found = {panel.experiment: stored(panel.made_by(), folder) for panel in panels}
    parts = [HEAD, "\n".join(_summary(panels, found))]
    for paper in dict.fromkeys(panel.paper for panel in panels):
        parts.append(f"## {paper}\n")
        parts += ["\n".join(_panel(each, found[each.experiment], folder)) for each in panels if each.paper == paper]
    return "\n".join(parts)


def _summary(panels: Sequence[Panel], found: dict[str, Stored | None]) -> Iterator[str]:
    yield f"| paper | panels | with stored runs | {' | '.join(ANSWERS)} |"
    yield "| --- |" + " ---: |" * (2 + len(ANSWERS))
    for paper in dict.fromkeys(panel.paper for panel in panels):
        own = [panel for panel in panels if panel.paper == paper]
        kept = [panel for panel in own if found[panel.experiment] is not None]
        judged = [_judged(panel, said, found[panel.experiment]) for panel in kept for said in _said(panel)]
        counted = Counter(verdict for claims in judged for _, verdict, _ in claims)
        yield f"| {paper} | {len(own)} | {len(kept)} | {' | '.join(str(counted[each]) for each in ANSWERS)} |"
    yield ""


def _said(panel: Panel) -> list[tuple[Said, ...]]:
    """Return the sentences of the paper about a panel, those together that the same claims answer."""
    together: dict[tuple[str, ...], list[Said]] = {}
    for said in panel.said:
        together.setdefault((*said.answered_by, said.unanswered), []).append(said)
    return [tuple(some) for some in together.values()]


def _judged(panel: Panel, said: Sequence[Said], kept: Stored | None) -> list[tuple[str, str, str]]:
    """Return the claims that answer sentences, with answer and evidence, where all of their series are stored."""
    if kept is None:
        return []
    labels = set(kept.table.labels())
    claims = [claim for claim in panel.claims(said[0]) if set(claim.about()) <= labels]
    return [(claim.sentence, *claim.judge(kept.table)) for claim in claims]


def _panel(panel: Panel, kept: Stored | None, folder: Path) -> Iterator[str]:
    yield f"### {panel.place}: {panel.title}\n"
    if kept is None:
        yield f"No runs are stored: `fedbandit reproduce {panel.experiment}`\n"
        return
    source = f"[{panel.experiment}]({folder.name}/{panel.experiment}.csv)"
    known = kept.about or {"seeds": str(kept.table.rows[0].measured["reward"].seeds)}
    yield f"{source}: {'; '.join(f'{name}: {text}' for name, text in known.items())}\n"
    for name in panel.figures:
        path = folder / panel.experiment / f"{name}.png"
        if path.exists():
            yield f"![{panel.title}]({folder.name}/{panel.experiment}/{name}.png)\n"
    for said in _said(panel):
        yield "\n>\n".join(f"> {each.words}" for each in said) + "\n"
        if said[0].unanswered:
            yield f"- not judged: {said[0].unanswered}"
        for sentence, answer, evidence in _judged(panel, said, kept):
            yield f"- {sentence}: *{answer}*: {evidence}."
        yield ""
    if panel.published:
        yield from _beside(panel.published, kept.table)


def _beside(published: Sequence[Published], table: Table) -> Iterator[str]:
    yield "| series | point | quantity | published | ours | source |"
    yield "| --- | --- | --- | ---: | ---: | --- |"
    for each in published:
        error = "" if each.error is None else f" ± {each.error:g}"
        name = each.quantity + (" per client" if each.per_client else "")
        value = f"{plain(each.value, 5)}{error}"
        yield f"| {each.series} | {each.point} | {name} | {value} | {ours(each, table)} | {each.source} |"
    yield ""


def ours(published: Published, table: Table | None) -> str:
    """Return our number that a published one belongs to, "" if there is none."""
    rows = [row for row in table.of(published.series) if row.point == published.point] if table else []
    return plain(float(rows[0].values(published.quantity, published.per_client).mean())) if rows else ""

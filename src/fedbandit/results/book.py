"""The evidence book: a page of all panels of the papers, made of stored runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fedbandit.experiments.intervals import plain
from fedbandit.experiments.panel import Panel, Published, Quote
from fedbandit.experiments.table import Measured, Table
from fedbandit.results.store import Stored, stored, where_from

ANSWERS = ("holds", "level", "mixed", "does not hold", "cannot be judged")
HEAD = """# The evidence book

Every panel of the five papers' figures and tables: what the paper says of it, what became of that here, and published
numbers beside ours. `fedbandit book` makes this page of stored runs, from which the [verdicts](reproducing.md#verdicts)
are judged, by paired differences over seeds. A panel without stored runs names the command that makes them. At the end
of each paper stands where its runs come from. Hollow diamonds in figures are published numbers; ± is half of a 95 %
interval in what a verdict rests on, and the standard error in tables and figures.
"""


@dataclass(frozen=True)
class Judged:
    """A claim with its answer and the numbers that this rests on."""

    sentence: str
    answer: str
    evidence: str


def page_of(panels: Sequence[Panel], folder: Path) -> str:
    """Return the page, in Markdown; it stands beside the folder."""
    found = {panel.experiment: stored(panel.made_by(), folder) for panel in panels}
    parts = [HEAD, "\n".join(_summary(panels, found))]
    for paper in dict.fromkeys(panel.paper for panel in panels):
        own = [panel for panel in panels if panel.paper == paper]
        parts += [f"## {paper}\n", "\n".join(_contents(own, found))]
        parts += ["\n".join(_panel(each, found[each.experiment], folder)) for each in own]
        parts.append("\n".join(_runs(paper, own, found, folder)))
    return "\n".join(parts)


def _summary(panels: Sequence[Panel], found: Mapping[str, Stored | None]) -> Iterator[str]:
    yield f"| paper | panels | with stored runs | {' | '.join(ANSWERS)} |"
    yield "| --- |" + " ---: |" * (2 + len(ANSWERS))
    for paper in dict.fromkeys(panel.paper for panel in panels):
        own = [panel for panel in panels if panel.paper == paper]
        kept = [panel for panel in own if found[panel.experiment] is not None]
        counted = sum((_counted(panel, found[panel.experiment]) for panel in kept), Counter[str]())
        yield f"| {paper} | {len(own)} | {len(kept)} | {' | '.join(str(counted[each]) for each in ANSWERS)} |"
    yield ""


def _contents(panels: Sequence[Panel], found: Mapping[str, Stored | None]) -> Iterator[str]:
    yield "| panel | what it shows | verdicts |"
    yield "| --- | --- | --- |"
    for panel in panels:
        kept = found[panel.experiment]
        counted = _counted(panel, kept)
        told = ", ".join(f"{each} {counted[each]}" for each in ANSWERS if counted[each])
        nothing = "no runs are stored" if kept is None else "the paper says nothing that a number answers"
        yield f"| [{panel.place}](#{_anchor(panel)}) | {panel.title} | {told or nothing} |"
    yield ""


def _heading(panel: Panel) -> str:
    return f"{panel.paper}, {panel.place}: {panel.title}"


def _anchor(panel: Panel) -> str:
    """Return where a heading is found, as Markdown's table of contents names it."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", _heading(panel)).strip().lower())


def _said(panel: Panel) -> list[tuple[Quote, ...]]:
    """Return the sentences of the paper about a panel, those together that the same claims answer."""
    together: dict[tuple[str, ...], list[Quote]] = {}
    for said in panel.said:
        together.setdefault((*said.answered_by, said.unanswered), []).append(said)
    return [tuple(some) for some in together.values()]


def _judged(panel: Panel, said: Sequence[Quote], kept: Stored) -> list[Judged]:
    """Return the claims that answer sentences, where all of their series are stored."""
    labels = set(kept.table.labels())
    claims = [claim for claim in panel.claims(said[0]) if set(claim.about()) <= labels]
    return [Judged(claim.sentence, *claim.judge(kept.table)) for claim in claims]


def _counted(panel: Panel, kept: Stored | None) -> Counter[str]:
    """Return how often each answer was given; a claim that answers two sentences counts once."""
    if kept is None:
        return Counter()
    return Counter(
        each.answer for each in dict.fromkeys(one for said in _said(panel) for one in _judged(panel, said, kept))
    )


def _panel(panel: Panel, kept: Stored | None, folder: Path) -> Iterator[str]:
    yield f"### {_heading(panel)}\n"
    if kept is None:
        yield f"No runs are stored: `fedbandit reproduce {panel.experiment}`\n"
        return
    shown = [f"{folder.name}/{panel.experiment}/{name}.png" for name in panel.figures]
    yield "\n".join(f"![{panel.title}]({path})" for path in shown if (folder.parent / path).exists()) + "\n"
    for said in _said(panel):
        yield "\n>\n".join(f"> {each.words}" for each in said) + "\n"
        if said[0].unanswered:
            yield f"- not judged: {said[0].unanswered}"
        for one in _judged(panel, said, kept):
            yield f"- {one.sentence}: *{one.answer}*<br><small>{one.evidence}</small>"
        yield ""
    if panel.published:
        yield from _beside(panel.published, kept.table)
    seeds = kept.table.rows[0].measured["seconds"].seeds
    many = f"{seeds} seeds" if seeds > 1 else "one seed"
    yield f"[{panel.experiment}]({folder.name}/{panel.experiment}.csv), {many}\n"


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
    """Return our number that a published one belongs to, with its standard error; "" if there is none."""
    rows = [row for row in table.of(published.series) if row.point == published.point] if table else []
    return str(Measured(tuple(rows[0].values(published.quantity, published.per_client)))) if rows else ""


def _runs(paper: str, panels: Sequence[Panel], found: Mapping[str, Stored | None], folder: Path) -> Iterator[str]:
    """Say where the runs of a paper come from, experiment by experiment."""
    some = ((panel.experiment, found[panel.experiment]) for panel in panels)
    kept = {name: each for name, each in some if each is not None}
    if kept:
        yield f"### {paper}, where the runs come from\n"
        yield from where_from(kept, folder)
    yield ""

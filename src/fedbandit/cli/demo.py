"""`fedbandit demo`: what federation is good for, in half a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fedbandit.cli.files import check_drawing
from fedbandit.cli.screen import Bar, out
from fedbandit.environments.linear import Linear
from fedbandit.simulation.result import Result
from fedbandit.simulation.run import algorithm as algorithm_named
from fedbandit.simulation.run import run

TURNS = 30_000
CAST: tuple[tuple[str, str, dict[str, float]], ...] = (
    ("alone", "local-linucb", {}),
    ("federated", "async-linucb", {"upload_threshold": 1.1, "download_threshold": 1000.0}),
    ("federated", "sync-linucb", {"sync_threshold": 10.0}),
    ("federated, lean", "lean-linucb", {}),
    ("pooled", "pooled-linucb", {}),
)


def demo(
    figure: Annotated[Path, typer.Option(help="Where to draw the figure.")] = Path("fedbandit-demo.png"),
) -> None:
    """Show a thousand clients that learn alone, federated, and with pooled data."""
    check_drawing("--figure", figure)
    world = Linear(clients=1000, arms=25, dimension=25)
    out.print(
        f"A thousand clients take {TURNS:,} turns, about {TURNS // 1000} each. At each turn one of them chooses among "
        "25 arms of 25 features. Alone, 30 turns teach little: what is gained by sharing statistics (federated), "
        "and what is lost against sending all raw data to one place (pooled)?\n"
    )
    results = []
    with Bar("running") as bar:
        for place, (_, name, parameters) in enumerate(CAST):
            bar.show(place, len(CAST))
            chosen = algorithm_named(name, **parameters)
            run(chosen, world, turns=100)  # compiles what this one needs, so that its seconds are its own
            results.append(run(chosen, world, turns=TURNS))
    _show(results)
    from fedbandit.simulation.drawing import plot_run  # matplotlib is imported only by those who draw

    plot_run(results, figure)
    out.print(f"\nThe figure: {figure.absolute()}", soft_wrap=True, highlight=False)
    out.print("Next: fedbandit list, fedbandit reproduce lean-linucb/steps --quick")


def _show(results: list[Result]) -> None:
    table = Table()
    table.add_column("learning")
    table.add_column("algorithm", no_wrap=True)
    for name in ("regret", "messages", "MB", "raw data?", "seconds"):
        table.add_column(name, justify="right")
    for (how, name, _), result in zip(CAST, results, strict=True):
        leaves = "yes" if name.startswith("pooled") else "no"
        table.add_row(
            how, name, f"{result.regret[-1]:,.0f}", f"{result.messages[-1]:,}", f"{result.bytes[-1] / 1e6:,.1f}",
            leaves, f"{result.seconds:.2f}",
        )  # fmt: skip
    out.print(table)

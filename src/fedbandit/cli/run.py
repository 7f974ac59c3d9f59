"""`fedbandit run`: one algorithm on one environment, for one seed or several."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer
from rich.table import Table

from fedbandit.cli.assignments import Set, World, assignments
from fedbandit.cli.completion import algorithm_names, environment_names
from fedbandit.cli.files import check_drawing, check_ending, check_file
from fedbandit.cli.screen import Bar, err, out
from fedbandit.core.environment import Environment
from fedbandit.core.errors import InvalidInput
from fedbandit.results.sweep import sweep
from fedbandit.simulation.result import Result
from fedbandit.simulation.run import algorithm as algorithm_named
from fedbandit.simulation.run import environment as environment_named
from fedbandit.simulation.run import run as run_one

SHORT = ("regret", "reward", "messages", "scalars", "bytes", "seconds")  # what fits beside each other
MEANS = ("regret", "reward", "messages", "scalars", "bytes", "uploads", "downloads", "rounds", "seconds")


def run(
    algorithm: Annotated[str, typer.Argument(help="An algorithm of `fedbandit list`.", autocompletion=algorithm_names)],
    environment: Annotated[
        str | None,
        typer.Option(help="An environment of `fedbandit list`; default: linear.", autocompletion=environment_names),
    ] = None,
    recorded: Annotated[str | None, typer.Option(help="Run on the turns of this .npz file instead.")] = None,
    set_: Set = None,
    world: World = None,
    turns: Annotated[int | None, typer.Option(help="How many turns; default: the environment's own length.")] = None,
    seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    seeds: Annotated[int, typer.Option(help="How many seeds to run.")] = 1,
    jobs: Annotated[int, typer.Option(help="How many runs at once.")] = 1,
    trace: Annotated[Path | None, typer.Option(help="Write one row a turn to this CSV file.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw the run to this file (.png, .svg or .pdf).")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the result to this .npz file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run an algorithm and show regret, reward and communication."""
    chosen = algorithm_named(algorithm, **assignments("--set", set_))
    place = _environment(environment, recorded, assignments("--world", world))
    _check_numbers(seed, seeds, jobs)
    _check_outputs(trace, figure, save, seeds)
    results: list[Result] = []
    total = (turns or place.setting().horizon) * seeds
    with Bar(f"{algorithm}") as bar:
        if seeds == 1:
            results.append(run_one(chosen, place, turns=turns, seed=seed, progress=lambda done: bar.show(done, total)))
        else:
            tasks = ((chosen, place, turns, each) for each in range(seed, seed + seeds))
            for result in sweep(_task, tasks, jobs):
                results.append(result)
                bar.show(len(results), seeds)
    results.sort(key=lambda result: result.seed)
    for warning in dict.fromkeys(each for result in results for each in result.warnings):
        err.print(f"warning: {warning}", soft_wrap=True, highlight=False, markup=False)
    _write(results, trace, figure, save)
    if as_json:
        typer.echo(json.dumps(_summary(results)))
    else:
        _show(results)


def _task(chosen: Any, place: Environment, turns: int | None, seed: int) -> Result:
    return run_one(chosen, place, turns=turns, seed=seed)


def _environment(name: str | None, recorded: str | None, values: dict[str, str]) -> Environment:
    if recorded is None:
        return environment_named(name or "linear", **values)
    if name or set(values) - {"epoch_length"}:
        option = "--environment" if name else "--world"
        raise InvalidInput(f"{option} has no meaning with --recorded: the file holds the whole world")
    return environment_named("recorded", path=recorded, **values)


def _check_numbers(seed: int, seeds: int, jobs: int) -> None:
    if seed < 0:
        raise InvalidInput(f"--seed must be at least 0, not {seed}: give a whole number from 0 on")
    if seeds < 1:
        raise InvalidInput(f"--seeds must be at least 1, not {seeds}: give the number of repetitions")
    if jobs == 0:
        raise InvalidInput("--jobs must not be 0: give the number of runs at once, or -1 for all cores")


def _check_outputs(trace: Path | None, figure: Path | None, save: Path | None, seeds: int) -> None:
    taken: dict[Path, str] = {}
    for option, path in (("--trace", trace), ("--figure", figure), ("--save", save)):
        if path is None:
            continue
        if option == "--figure":
            check_drawing(option, path)
        elif option == "--save":
            check_ending(option, path, ".npz")
        else:
            check_file(option, path)
        if seeds > 1 and option != "--figure":
            raise InvalidInput(f"{option} takes one run, but --seeds is {seeds}: run one seed at a time")
        if path.absolute() in taken:
            raise InvalidInput(f"{taken[path.absolute()]} and {option} are both {path}: give each a file of its own")
        taken[path.absolute()] = option


def _write(results: list[Result], trace: Path | None, figure: Path | None, save: Path | None) -> None:
    if trace is not None:
        results[0].write_trace(trace)
    if save is not None:
        results[0].save(save)
    if figure is not None:
        from fedbandit.simulation.drawing import plot_run  # matplotlib is imported only by those who draw

        plot_run(results, figure)
    for what, path in (("trace", trace), ("result", save), ("figure", figure)):
        if path is not None:
            err.print(f"{what}: {path}")


def _summary(results: list[Result]) -> dict[str, Any]:
    if len(results) == 1:
        return results[0].summary()
    runs = [result.summary() for result in results]
    shared = {name: runs[0][name] for name in ("algorithm", "parameters", "environment", "world", "turns", "clients")}
    return {**shared, "seeds": [each["seed"] for each in runs], **_means(runs), "runs": runs}


def _means(runs: list[dict[str, Any]]) -> dict[str, float | None]:
    return {name: None if runs[0][name] is None else fmean(each[name] for each in runs) for name in MEANS}


def _show(results: list[Result]) -> None:
    runs = [result.summary() for result in results]
    out.print(f"{runs[0]['algorithm']} on {runs[0]['environment']}", style="italic", soft_wrap=True, highlight=False)
    table = Table()
    known = [name for name in MEANS if runs[0][name] is not None]
    if len(runs) == 1:
        _show_one(table, runs[0], ["turns", "clients", "seed", *known])
    else:
        _show_many(table, runs, [name for name in SHORT if name in known])
    out.print(table)


def _show_one(table: Table, run: dict[str, Any], names: list[str]) -> None:
    table.show_header = False
    table.add_column()
    table.add_column(justify="right")
    for name in names:
        table.add_row(name, _number(run[name]))


def _show_many(table: Table, runs: list[dict[str, Any]], names: list[str]) -> None:
    for name in ("seed", *names):
        table.add_column(name, justify="right", no_wrap=True)
    for each in runs:
        table.add_row(str(each["seed"]), *(_number(each[name]) for name in names))
    table.add_section()
    means = _means(runs)
    table.add_row("mean", *(_number(_like(means[name], runs[0][name])) for name in names))


def _like(mean: float | None, example: Any) -> Any:
    return round(mean) if isinstance(example, int) and mean is not None else mean


def _number(value: Any) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"

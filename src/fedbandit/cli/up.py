"""`fedbandit up`: a whole federation on this machine, to look at."""

from __future__ import annotations

import signal
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.status import Status

from fedbandit.cli.assignments import BEST, Set, World, assignments
from fedbandit.cli.completion import algorithm_names, environment_names
from fedbandit.cli.screen import err, out
from fedbandit.core.algorithm import Algorithm
from fedbandit.core.environment import Environment, environments
from fedbandit.core.errors import InvalidInput
from fedbandit.files.amounts import counted
from fedbandit.simulation.run import algorithm as algorithm_named

if TYPE_CHECKING:
    from fedbandit.service.demo.local import LocalFederation

LINEAR = {"arms": "4", "pool": "12", "dimension": "20", "noise": "0.15"}  # few enough arms to follow with the eye
MOST_SITES = 200


def up(
    sites: Annotated[int | None, typer.Option(help="How many sites; default: 5.")] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            help="An algorithm of `fedbandit list`; default: that of the folder, or else lean-linucb.",
            autocompletion=algorithm_names,
        ),
    ] = None,
    environment: Annotated[
        str, typer.Option(help="An environment of `fedbandit list`.", autocompletion=environment_names)
    ] = "linear",
    set_: Set = None,
    world: World = None,
    seed: Annotated[int, typer.Option(help="The world's seed.")] = 0,
    rate: Annotated[float, typer.Option(metavar="PER_SECOND", help="Decisions a second, of each site.")] = 2.0,
    port: Annotated[int, typer.Option(help="The port of the status page; 0 for any that is free.")] = 8080,
    duration: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="End after so many; default: at Ctrl-C.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Keep everything here, and go on from it; default: keep nothing.")
    ] = None,
) -> None:
    """Run a broker, a coordinator and some sites on this machine, and show the address of the status page."""
    from fedbandit.service.demo.local import ChildEnded, LocalFederation, require_free, require_installed
    from fedbandit.service.demo.site import rehearse  # what only this command needs, is slow
    from fedbandit.service.demo.worlds import Demo

    require_installed()
    place = _world(environment, assignments("--world", world), sites)
    _check(rate, port, duration, seed)
    demo = Demo.of(_algorithm(algorithm, assignments("--set", set_), folder), place, seed=seed, rate=rate)
    if port:
        require_free(port)
    with err.status("Rehearsing in one process; the first time, kernels are compiled: up to a minute …"):
        rehearse(demo)
    stop = threading.Event()
    with ExitStack() as stack:
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            stack.callback(signal.signal, each, signal.signal(each, lambda *_: stop.set()))
        where = _folder(folder, stack)
        began = time.monotonic()
        try:
            with err.status("Starting a broker, a coordinator and sites …"):
                federation = stack.enter_context(LocalFederation(demo, where, port))
            _introduce(federation, folder)
            told = _watch(federation, stop, duration)
        except ChildEnded as ended:
            remedy = "give --folder to keep its log" if folder is None else f"see the logs in {folder}"
            err.print(f"fedbandit: {ended}: {remedy}", highlight=False, markup=False, soft_wrap=True)
            raise typer.Exit(1) from None
        with err.status("Ending the sites, the coordinator and the broker …"):
            federation.stop()
    _summarise(told, time.monotonic() - began, folder)


def _algorithm(name: str | None, values: dict[str, str], folder: Path | None) -> Algorithm:
    """Return what was asked for; a folder in which a demo has begun keeps its algorithm if nothing was."""
    from fedbandit.service.demo.worlds import FILE, Demo

    if name is None and not values and folder is not None and (folder / FILE).exists():
        return Demo.read(folder).charter.algorithm
    return algorithm_named(name or BEST, **values)


def _world(name: str, values: dict[str, str], sites: int | None) -> Environment:
    """Return the world with as many clients as there are sites, where that can be chosen."""
    kind = environments[name]
    if "clients" not in {each.name for each in kind.describe()}:
        made = kind.from_values(values)
        if sites not in (None, made.setting().clients):
            raise InvalidInput(f"--sites {sites}, but this world has {made.setting().clients}: leave --sites out")
        return made
    if "clients" in values:
        raise InvalidInput("--world clients is the number of sites: give it as --sites")
    count = 5 if sites is None else sites
    if not 1 <= count <= MOST_SITES:
        raise InvalidInput(f"--sites must be from 1 to {MOST_SITES}, not {count}: each is a process of its own")
    defaults = LINEAR if name == "linear" else {}
    return kind.from_values({**defaults, **values, "clients": count})


def _check(rate: float, port: int, duration: float | None, seed: int) -> None:
    if not 0 < rate <= 1000:
        raise InvalidInput(f"--rate must be more than 0 and at most 1000, not {rate:g}: give decisions a second")
    if not 0 <= port <= 65535:
        raise InvalidInput(f"--port must be from 0 to 65535, not {port}: give a free one")
    if duration is not None and not duration > 0:
        raise InvalidInput(f"--duration must be more than 0, not {duration:g}: give seconds")
    if seed < 0:
        raise InvalidInput(f"--seed must be at least 0, not {seed}: give a whole number from 0 on")


def _folder(folder: Path | None, stack: ExitStack) -> Path:
    if folder is None:
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fedbandit-")))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"--folder {folder}: cannot make it ({error.strerror}): choose another") from None
    return folder.absolute()


def _introduce(federation: LocalFederation, folder: Path | None) -> None:
    assert federation.broker is not None
    charter, sites = federation.demo.charter, federation.demo.sites
    kept = "nothing is kept" if folder is None else f"kept in {folder}"
    out.print(f"broker       {federation.broker.url}", highlight=False, soft_wrap=True)
    out.print(f"coordinator  {charter.algorithm.id}, {kept}", highlight=False, soft_wrap=True)
    out.print(f"sites        {sites}, on the environment {federation.demo.world.id}", highlight=False)
    out.print(f"status page  [bold]{federation.page}[/]", highlight=False, soft_wrap=True)
    out.print("Ctrl-C ends it all.", highlight=False)


def _watch(federation: LocalFederation, stop: threading.Event, duration: float | None) -> dict[str, Any] | None:
    """Show how it goes until it is to end; return what was told last."""
    told = None
    end = None if duration is None else time.monotonic() + duration
    with Status("", console=err) as line:
        while not stop.is_set() and (end is None or time.monotonic() < end):
            federation.check()
            told = federation.status() or told
            if told is not None:
                line.update(_in_words(told))
            stop.wait(1.0 if end is None else max(0.0, min(1.0, end - time.monotonic())))
    return federation.status() or told


def _in_words(told: dict[str, Any]) -> str:
    totals = told["totals"]
    reports = [site["reported"] for site in told["sites"] if site["reported"]]
    decisions, rewards = sum(each["decisions"] for each in reports), sum(each["rewards"] for each in reports)
    mean = f", mean reward {sum(each['reward_sum'] for each in reports) / rewards:.3f}" if rewards else ""
    heard = told["clients"] - told["states"]["new"]
    many = ", ".join(counted(totals[name], name.removesuffix("s")) for name in ("uploads", "downloads"))
    return (
        f"{heard} of {told['clients']} sites, {counted(decisions, 'decision')}{mean}, {many}, "
        f"{(totals['bytes_up'] + totals['bytes_down']) / 1e6:.2f} MB"
    )


def _summarise(told: dict[str, Any] | None, seconds: float, folder: Path | None) -> None:
    if told is not None:
        out.print(f"after {seconds:.0f} s: {_in_words(told)}", highlight=False, soft_wrap=True)
    again = "" if folder is None else f"; the same command goes on from {folder}"
    out.print(f"All ended{again}.", highlight=False, soft_wrap=True)

"""A coordinator as a process of its own, as `fedbandit serve` runs it, and sites beside it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import fedbandit as fb
from fedbandit.core.smallest_upload import has_smallest_upload
from fedbandit.transport.nats.broker import free_port
from samples.waiting import until

PROGRAM = [sys.executable, "-c", "from fedbandit.cli import main; main()"]


def toml(value):
    """Write a value as TOML does."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value)


def telling_at_once(table):
    """A federation's table in which uploads of single observations are asked for, unless it says how many."""
    if not has_smallest_upload(fb.algorithms[table["algorithm"]]):
        return table
    return {**table, "set": {"smallest_upload": 1, **table.get("set", {})}}


class Coordinator:
    """`fedbandit serve` on a folder; it can be killed and started again."""

    def __init__(self, folder, broker, federations, journal="journals", **more):
        self.folder = folder
        self.log = folder / "coordinator.log"
        self.port = free_port()
        lines = [f'broker = "{broker}"', f'journal = "{journal}"', f'http = "127.0.0.1:{self.port}"']
        lines += [f"{name} = {toml(str(value) if isinstance(value, Path) else value)}" for name, value in more.items()]
        for name, table in federations.items():
            table = telling_at_once(table)
            lines += [f"[federations.{name}]", *(f"{key} = {toml(value)}" for key, value in table.items())]
        self.file = folder / "serve.toml"
        self.file.write_text("\n".join(lines))
        self.command = [*PROGRAM, "serve", str(self.file)]
        self.process = None

    def start(self):
        with self.log.open("a") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        return self

    def wait(self, times=1):
        """Wait until it has said so many times that it serves."""
        until(lambda: self.said("serving at") >= times or self.process.poll() is not None, "the coordinator")
        assert self.process.poll() is None, self.log.read_text()
        return self

    def said(self, words):
        return self.log.read_text().count(words) if self.log.exists() else 0

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Return the exit code."""
        self.process.terminate()
        return self.process.wait(timeout=30)

    def end(self):
        """Leave nothing behind, whatever became of the test; one that failed shows what was said."""
        if self.process is not None and self.process.poll() is None:
            with contextlib.suppress(OSError):
                print(self.asked("status.json", seconds=2))
            self.kill()
        if self.log.exists():
            print(self.log.read_text())

    def asked(self, page, seconds=30):
        """Return one of its pages; under load it may answer late."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{page}", timeout=seconds) as answer:
            return answer.read().decode()


def open_sites(table, **more):
    """The sites of a federation, as its table in the coordinator's file says."""
    table = telling_at_once(table)
    sizes = {key: table[key] for key in ("clients", "dimension", "arms", "horizon") if key in table}
    return [
        fb.Site(table["algorithm"], number=number, **sizes, **table.get("set", {}), **more)
        for number in range(table["clients"])
    ]


def all_is_sent(sites):
    return all(site.unsent == 0 for site in sites)

"""The processes of `fedbandit up`: started in order, watched, and ended in order, so that nothing is left behind.

Each has a session of its own, so that Ctrl-C in a terminal reaches only whoever started them. Sites end first and send
what they have; then the coordinator, which takes it in; then the broker. If whoever started them is killed, they end
too (on Linux), in no order.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self
from urllib.error import URLError
from urllib.request import urlopen

from fedbandit.core.errors import InvalidInput
from fedbandit.service.demo.worlds import Demo
from fedbandit.transport.nats.broker import Broker, free_port, server_program
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.transport.tether import begin

HOST = "127.0.0.1"
START_SECONDS = 60.0
STOP_SECONDS = 15.0
NEEDED = ("nats", "aiohttp", "prometheus_client")


def require_installed() -> None:
    """Refuse to begin without what only deployments need."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise InvalidInput(
            f"this needs {', '.join(missing)}: install fedbandit with its extra deploy, in a checkout by "
            "pip install '.[deploy]'"
        )
    server_program()


def require_free(port: int) -> None:
    """Refuse a port that another program has."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise InvalidInput(f"port {port} cannot be had ({error.strerror}): give another with --port") from None


class Child:
    """A process whose output goes to a file."""

    def __init__(self, name: str, arguments: Sequence[str], log: Path) -> None:
        """Start it."""
        self.name = name
        self.log = log
        with log.open("ab") as file:
            command = [sys.executable, *arguments]
            self.process = begin(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file)

    def check(self) -> None:
        """Raise if it has ended, with the last that it said."""
        code = self.process.poll()
        if code is not None:
            said = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            why = said[-1] if said else f"exit code {code}"
            raise ChildEnded(f"{self.name} ended by itself ({why})")

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait()


class ChildEnded(Exception):
    """A process ended that nobody told to."""


def stop_all(children: Sequence[Child]) -> None:
    """End processes as they wish to be ended, and those that do not end at once in the end."""
    for child in children:
        child.process.terminate()
    end = time.monotonic() + STOP_SECONDS
    for child in children:
        try:
            child.process.wait(timeout=max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()


class LocalFederation:
    """A broker, a coordinator and sites on this machine; leaving its block ends them all."""

    def __init__(self, demo: Demo, folder: Path, port: int) -> None:
        """Take what to run, where, and the port of the status page, 0 for any; nothing is started yet."""
        self.demo = demo
        self.folder = folder
        self.port = port or free_port()
        self.page = f"http://{HOST}:{self.port}/"
        self.broker: Broker | None = None
        self.coordinator: Child | None = None
        self.sites: list[Child] = []

    def __enter__(self) -> Self:
        """Start all of it; whatever goes wrong on the way, nothing is left behind."""
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """End all of it."""
        self.stop()

    def check(self) -> None:
        """Raise ChildEnded if a part has ended."""
        for child in [*self.sites, *filter(None, [self.coordinator])]:
            child.check()

    def status(self) -> dict[str, Any] | None:
        """Return what the coordinator tells of the federation, or None if it does not answer now."""
        try:
            with urlopen(f"{self.page}status.json", timeout=5.0) as answer:
                told: dict[str, Any] = json.load(answer)["federations"][0]
        except (OSError, ValueError):
            return None
        return told

    def stop(self) -> None:
        """End the sites, then the coordinator, then the broker."""
        stop_all(self.sites)
        stop_all([] if self.coordinator is None else [self.coordinator])
        if self.broker is not None:
            self.broker.stop()

    def _start(self) -> None:
        require_free(self.port)
        settings = BrokerSettings(self.folder.absolute() / "broker", port=free_port())
        self.demo.write(self.folder, settings.url, f"{HOST}:{self.port}")
        self.broker = Broker(settings)
        serve = ("-c", "from fedbandit.cli import main; main()", "serve", str(self.folder / "coordinator.toml"))
        self.coordinator = Child("the coordinator", serve, self.folder / "coordinator.log")
        self._wait_until_ready(self.coordinator)
        for number in range(self.demo.sites):
            play = ("-m", "fedbandit.service.demo.site", str(self.folder), str(number), settings.url)
            self.sites.append(Child(f"site {number}", play, self.folder / f"site-{number}.log"))

    def _wait_until_ready(self, coordinator: Child) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            coordinator.check()
            try:
                with urlopen(f"{self.page}health", timeout=5.0):
                    return
            except (URLError, OSError):
                time.sleep(0.05)
        raise ChildEnded(f"the coordinator did not begin to serve within {START_SECONDS:g} seconds")

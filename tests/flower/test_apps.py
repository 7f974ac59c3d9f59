"""Flower itself runs a federation: its simulation, and a SuperLink with three SuperNodes, as the simulator does."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from contract.small_worlds import CLIENTS
from fedbandit.core.errors import InvalidInput
from fedbandit.flower import client_app, server_app
from fedbandit.wire.state import encode_state
from flower.worlds import federation, simulated

ROOT = Path(__file__).parents[2]
NAME, ROUNDS = "fldb-ogd", 2  # each message starts a process of its own, seconds long
PROJECT = """
[project]
name = "clinics"
version = "1.0.0"
license = "Apache-2.0"
dependencies = []

[tool.flwr.app]
publisher = "fedbandit"

[tool.flwr.app.components]
serverapp = "clinics.server:app"
clientapp = "clinics.client:app"

[tool.flwr.app.config]
folder = "{folder}"

[tool.flwr.app.config.fedbandit]
{agreed}

[tool.flwr.app.config.fedbandit.set]
smallest_upload = 1
"""
SERVER = """
from pathlib import Path
from flwr.serverapp import ServerApp
from fedbandit.flower import server_app

federation = server_app()
app = ServerApp()

@app.main()
def main(grid, context):
    federation(grid, context)
    Path(context.run_config["folder"], "state").write_bytes(context.state["fedbandit"]["state"])
"""
CLIENT = """
from pathlib import Path
from fedbandit.wire.state import encode_state
from flower.worlds import Application
from fedbandit.flower import client_app

def note(round_, site, arm):
    with Path("{folder}", f"site-{{site}}.txt").open("a") as file:
        file.write(f"{{round_}} {{arm[0]}} {{arm[1]}}\\n")

app = client_app(Application("{name}", {rounds}, note))
"""
CONFIG = """
[superlink]
default = "here"

[superlink.here]
address = "127.0.0.1:{port}"
insecure = true
{options}
"""
OF_A_SIMULATION = """
options.num-supernodes = 3
options.backend.client-resources.num-cpus = 1
options.backend.init-args.num-cpus = 1
"""


def test_without_flower_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "flwr", None)
    for make in (lambda: client_app(lambda turn: None), server_app):
        with pytest.raises(InvalidInput, match=r"^apps of Flower need flwr: install fedbandit with its extra flower$"):
            make()


@pytest.fixture
def flower(tmp_path):
    """An app in a folder, in which Flower keeps its own files, too, and the programs that run it."""
    pytest.importorskip("flwr", reason="needs Flower: pip install '.[flower]' 'flwr[simulation]'")
    package = tmp_path / "app" / "clinics"
    package.mkdir(parents=True)
    given = {key: value for key, value in federation(NAME, ROUNDS).items() if key != "set"}
    agreed = "\n".join(
        f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}" for key, value in given.items()
    )
    (package.parent / "pyproject.toml").write_text(PROJECT.format(folder=tmp_path, agreed=agreed))
    (package / "__init__.py").write_text("")
    (package / "server.py").write_text(SERVER)
    (package / "client.py").write_text(CLIENT.format(folder=tmp_path, name=NAME, rounds=ROUNDS))
    paths = os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests", ROOT)))
    programs = Programs(tmp_path, os.environ | {
        "PYTHONPATH": paths, "FLWR_HOME": str(tmp_path / "flwr"), "FLWR_TELEMETRY_ENABLED": "0",
        "PATH": str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"],
    })  # fmt: skip
    try:
        yield programs
    finally:
        programs.end()


class Programs:
    """Programs of Flower that run until the test ends; what they say is in files."""

    def __init__(self, folder, environment):
        self.folder, self.environment, self.started = folder, environment, []

    def start(self, program, *arguments):
        path = shutil.which(program, path=self.environment["PATH"])
        with (self.folder / f"{program}-{len(self.started)}.log").open("w") as log:
            running = subprocess.Popen(
                [path, *arguments], env=self.environment, cwd=self.folder, stdout=log, stderr=subprocess.STDOUT
            )
        self.started.append(running)

    def superlink(self, *options):
        port = free_port()
        place = ("--insecure", "--host", "127.0.0.1", "--port", str(port))
        self.start("flower-superlink", *place, "--disable-runtime-dependency-installation", *options)
        for _ in range(600):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    return port
            time.sleep(0.1)  # until it listens
        raise AssertionError("the SuperLink has not begun to listen within a minute")

    def end(self):
        for each in reversed(self.started):
            each.terminate()
        for each in self.started:
            each.wait(timeout=60)

    def run(self, port, options=""):
        """`flwr run`, until the run has ended; return what the sites chose and what the server knew."""
        folder = self.folder
        (folder / "flwr").mkdir(exist_ok=True)
        (folder / "flwr" / "config.toml").write_text(CONFIG.format(port=port, options=options))
        self.start("flwr", "run", str(folder / "app"), "here", "--stream")
        self.started[-1].wait(timeout=900)
        assert (folder / "state").exists(), self.said()
        chosen = [np.loadtxt(folder / f"site-{site}.txt", dtype=int).reshape(ROUNDS, 3) for site in range(CLIENTS)]
        for each in chosen:
            np.testing.assert_array_equal(each[:, 0], np.arange(ROUNDS))
        return np.stack([each[:, 1:] for each in chosen], axis=1), (folder / "state").read_bytes()

    def said(self):
        return "\n".join(f"{path.name}:\n{path.read_text()[-3000:]}" for path in sorted(self.folder.glob("*.log")))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def assert_as_simulated(choices, state):
    expected, _, server = simulated(NAME, ROUNDS)
    np.testing.assert_array_equal(choices, expected)
    assert state == encode_state(server.state)


@pytest.mark.slow
def test_flowers_own_simulation_gives_the_same_choices_and_sums(flower):
    pytest.importorskip("ray", reason="needs Flower's simulation: pip install 'flwr[simulation]'")
    assert_as_simulated(*flower.run(flower.superlink("--simulation"), OF_A_SIMULATION))


@pytest.mark.slow
def test_a_superlink_with_three_supernodes_gives_the_same_choices_and_sums(flower):
    port = flower.superlink()
    for site in range(CLIENTS):
        place = ("--insecure", "--superlink", f"127.0.0.1:{port}", "--port", str(free_port()))
        flower.start("flower-supernode", *place, "--node-config", f"partition-id={site}")
    assert_as_simulated(*flower.run(port))

"""`fedbandit up`: a federation of real processes on this machine, and that none of them is left behind."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fedbandit as fb
from fedbandit.service.demo import local
from fedbandit.service.demo.worlds import Demo
from fedbandit.transport.nats.broker import free_port

PROGRAM = (sys.executable, "-c", "from fedbandit.cli import main; main()", "up")


class Up:
    """The command as a process, with a mark in the environment of everything that it starts."""

    def __init__(self, *arguments, folder):
        self.mark = f"fedbandit-test-{os.getpid()}-{free_port()}"
        environment = {**os.environ, "FEDBANDIT_TEST_MARK": self.mark, "COLUMNS": "200"}
        self.process = subprocess.Popen(
            [*PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment, cwd=folder, start_new_session=True,
        )  # fmt: skip

    def started(self):
        """Wait until the processes run; return the address of the status page."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            found = re.match(r"status page +(\S+)", line)
            if found:
                return found[1]
        raise AssertionError(self.process.communicate()[1])

    def all_run(self, count):
        """Wait until as many processes run what they are for; return their numbers.

        One that has just been begun has no environment to be seen for a moment, and is then tied to its parent.
        """
        deadline = time.monotonic() + 60
        while True:
            found = {number: line for number, line in self.processes().items() if not line.startswith("setpriv")}
            if len(found) == count:
                return list(found)
            assert time.monotonic() < deadline, found

    def end(self):
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err

    def processes(self):
        """Return the processes that bear the mark, with their command lines."""
        found = {}
        for each in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (each / "environ").read_bytes():
                    found[int(each.name)] = (each / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
        return found

    def left_behind(self):
        """Return the command lines of processes that bear the mark."""
        return list(self.processes().values())


@pytest.fixture
def up(tmp_path):
    begun = []

    def begin(*arguments):
        begun.append(Up(*arguments, folder=tmp_path))
        return begun[-1]

    yield begin
    for each in begun:
        if each.process.poll() is None:
            each.process.kill()
            each.process.communicate()


needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes in /proc")


@needs_proc
def test_ctrl_c_ends_everything_cleanly(up):
    running = up("--sites", 2, "--port", 0)
    running.started()
    running.all_run(5)  # itself, the broker, the coordinator, two sites
    os.killpg(running.process.pid, signal.SIGINT)  # as a terminal does: to all of the foreground
    code, out, err = running.end()
    assert (code, err) == (0, "")
    assert "All ended." in out
    assert running.left_behind() == []


@needs_proc
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv, which ties them, is not installed")
def test_what_it_started_ends_with_it_even_if_it_is_killed(up):
    running = up("--sites", 2, "--port", 0)
    running.started()
    ends = [os.pidfd_open(each) for each in running.all_run(5) if each != running.process.pid]
    running.process.kill()
    for each in ends:  # readable when the process has ended
        assert select.select([each], [], [], 60)[0]
        os.close(each)
    running.end()


@needs_proc
@pytest.mark.slow
def test_it_ends_by_itself_and_goes_on_from_its_folder(up, tmp_path):
    for life in range(2):
        running = up("--sites", 1, "--port", 0, "--duration", 1, "--rate", 50, "--folder", "kept", "--seed", 3)
        running.started()
        code, out, err = running.end()
        assert (code, err) == (0, "")
        assert re.search(r"after \d+ s: \d of 1 sites, [\d,]+ decisions", out)
        assert out.endswith("the same command goes on from kept.\n")
        assert running.left_behind() == []
        log = (tmp_path / "kept" / "coordinator.log").read_text()
        assert log.count("serving at") == life + 1
        assert "refused" not in log
    assert {"broker", "journals", "site-0.log"} <= {each.name for each in (tmp_path / "kept").iterdir()}


@needs_proc
@pytest.mark.slow
def test_a_part_that_dies_ends_the_rest_with_a_sentence(up, tmp_path):
    running = up("--sites", 2, "--port", 0, "--folder", "kept")
    running.started()
    child = next(
        int(each.parent.name)
        for each in Path("/proc").glob("[0-9]*/cmdline")
        if str(tmp_path / "kept") in _read(each) and "demo.site" in _read(each)
    )
    os.kill(child, signal.SIGKILL)
    code, _, err = running.end()
    assert code == 1
    assert re.search(r"fedbandit: site \d ended by itself .*: see the logs in kept", err)
    assert running.left_behind() == []


def _read(path):
    try:
        return path.read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def test_a_folder_keeps_its_algorithm_if_none_is_asked_for(fedbandit, tmp_path):
    """Refused here, so that nothing is started: the sentence names the algorithm."""
    demo = Demo.of(fb.algorithm("async-linucb", ridge=0.5), fb.environment("linear", clients=5))
    demo.write(tmp_path, "nats://127.0.0.1:1", "127.0.0.1:1")
    for folder, name in ((tmp_path, "async-linucb"), (tmp_path / "new", "lean-linucb")):
        said = fedbandit("up", "--folder", folder, "--environment", "dueling")
        assert said.code == 2
        assert f"{name} needs features of each arm" in said.err


def test_a_port_that_is_taken_is_said_in_one_sentence(fedbandit):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = fedbandit("up", "--port", port)
    assert said.code == 2
    assert said.err == f"fedbandit: port {port} cannot be had (Address already in use): give another with --port\n"


def test_without_the_extra_its_name_is_said(fedbandit, monkeypatch):
    monkeypatch.setattr(local, "find_spec", lambda name: None)
    said = fedbandit("up")
    assert said.code == 2
    remedy = "install fedbandit with its extra deploy, in a checkout by pip install '.[deploy]'"
    assert said.err == f"fedbandit: this needs nats, aiohttp, prometheus_client: {remedy}\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--sites", 0), "--sites must be from 1 to 200"),
        (("--rate", 0), "--rate must be more than 0"),
        (("--port", 70000), "--port must be from 0 to 65535"),
        (("--duration", -1), "--duration must be more than 0"),
        (("--seed", -1), "--seed must be at least 0"),
        (("--world", "clients=3"), "give it as --sites"),
        (("--algorithm", "nothing"), "'nothing'"),
        (("--environment", "dueling"), "lean-linucb needs features of each arm and rewards, but dueling has"),
        (("--folder", "/proc/nowhere"), "--folder /proc/nowhere: cannot make it"),
    ],
)
def test_bad_input_is_refused_before_anything_is_started(fedbandit, monkeypatch, arguments, sentence):
    monkeypatch.setattr(local.subprocess, "Popen", None)
    said = fedbandit("up", *arguments)
    assert said.code == 2
    assert sentence in said.err
    assert said.err.count("\n") == 1

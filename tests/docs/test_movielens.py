"""The page that goes from a file of MovieLens to a federation, run as a person would run it.

`python tests/docs/test_movielens.py` writes the real output into the page, for a reader to look over.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from docs.test_pages import PAGES, blocks, gist
from fedbandit.transport.nats.broker import free_port
from samples.waiting import until

PAGE = next(page for page in PAGES if page.stem == "movielens")
DATA = Path(os.environ.get("FEDBANDIT_DATA", "nowhere")) / "ml-100k.zip"
PORTS = {"4222": None, "8080": None}
MAIN = "from fedbandit.cli import main; main()"
SCRIPT = '#!/bin/sh\nexec {} "$@"\n'


class Terminal:
    """A shell in a folder; what ends with & goes on until the end."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.behind = folder, []
        programs = folder / "bin"
        programs.mkdir()
        for name, call in (("python", sys.executable), ("fedbandit", f"{sys.executable} -c {MAIN!r}")):
            (programs / name).write_text(SCRIPT.format(call))
            (programs / name).chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "COLUMNS": "120"}

    def run(self, command: str) -> str:
        if command.endswith("&"):
            log = self.folder / f"{len(self.behind)}.log"
            with log.open("w") as file:
                self.behind.append(subprocess.Popen(
                    ["sh", "-c", "exec " + command.rstrip("& ")], stdout=file, stderr=file, cwd=self.folder,
                    env=self.environment,
                ))  # fmt: skip
            self._wait(command, log)
            return ""
        said = subprocess.run(
            ["sh", "-c", command], capture_output=True, text=True, check=True, cwd=self.folder, env=self.environment
        )
        self._choose_ports()
        return "\n".join(line.rstrip() for line in said.stdout.rstrip().split("\n"))

    def _choose_ports(self) -> None:
        """Write ports that are free here into what was just advised."""
        for name in ("coordinator.toml", "site.py"):
            file = self.folder / "advice" / name
            if file.exists():
                text = file.read_text()
                for port in PORTS:
                    PORTS[port] = PORTS[port] or str(free_port())
                    text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{PORTS[port]}")
                file.write_text(text)

    def _wait(self, command: str, log: Path) -> None:
        def is_up():
            assert self.behind[-1].poll() is None, log.read_text()
            if "broker" not in command:
                return "serving at" in log.read_text()
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", int(PORTS["4222"]))) == 0

        until(is_up, command)

    def end(self) -> None:
        for each in reversed(self.behind):
            each.send_signal(signal.SIGTERM)
            each.wait(30)


def played(folder: Path):
    """Run the page in a folder; yield each command with the places of its output, and what it really printed."""
    terminal = Terminal(folder)
    try:
        for block in blocks(PAGE.read_text(encoding="utf-8").split("\n")):
            if block.title:
                (folder / block.title).write_text(block.text + "\n", encoding="utf-8")
                continue
            starts = [place for place, line in enumerate(block.lines) if line.startswith("$ ")]
            for start, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
                real = terminal.run(block.lines[start][2:])
                yield block.lines[start], block.first + start + 1, block.first + end, real
    finally:
        terminal.end()


def without_ids(text: str) -> str:
    return re.sub(r'"id": "[^"]*"', '"id": "..."', text)


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="needs ml-100k.zip in FEDBANDIT_DATA")
@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
def test_the_way_from_a_file_to_a_federation_runs_as_the_page_says(tmp_path):
    lines = PAGE.read_text(encoding="utf-8").split("\n")
    for command, first, last, real in played(tmp_path):
        shown = [line for line in lines[first:last] if line]
        missing = [line for line in shown if gist(without_ids(line)) not in gist(without_ids(real))]
        assert not missing, f"{command} does not print {missing}, but {real}"
    report = (tmp_path / "advice" / "report.html").read_text(encoding="utf-8")
    assert "What would federation have bought?" in report
    assert (tmp_path / "advice" / "site-9.db").exists()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = list(played(Path(folder)))
        shutil.copy(Path(folder) / "advice" / "frontier.png", PAGE.parent / "images" / "movielens-frontier.png")
    written = PAGE.read_text(encoding="utf-8").split("\n")
    for _, first, last, real in reversed(found):
        written[first:last] = without_ids(real).split("\n") if real else []
    PAGE.write_text("\n".join(written), encoding="utf-8")

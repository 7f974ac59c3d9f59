"""Everything that the pages show is run: Python blocks, experiments in TOML, and commands.

`python tests/docs/test_pages.py [PAGE ...]` writes the real output into the pages, for a reader to look over.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from unittest import mock

import pytest

from fedbandit.cli import demo, main, screen
from fedbandit.cli.main import app
from fedbandit.core.algorithm import algorithms
from fedbandit.core.environment import environments
from fedbandit.core.errors import InvalidInput
from fedbandit.core.messages import Message
from fedbandit.experiments import tuning
from fedbandit.experiments.experiment import experiments
from fedbandit.experiments.user_file import read_experiment
from fedbandit.features.features import Features
from fedbandit.service.agent.settings import read_agent_plan
from fedbandit.service.coordinator.settings import read_plan

PAGES = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))
LONG = ("advice", "reproducing")  # pages that run for more than some seconds
WIDTH = 120  # columns of the terminal that the pages show
FENCE = re.compile(r'^```(\w+)?(?:.*title="([^"]+)")?')
NOT_RUN = "<!-- not run"  # on the line before a fence: a block that needs data or hours; say which
SHELL = {"cat", "head", "ls"}  # what a page may call beside fedbandit
NUMBER = re.compile(r"[-+]?\d[\d,.]*(e[-+]?\d+)?")


@dataclass
class Block:
    """A fenced block of a page: its language, the name of the file it stands for, and its lines."""

    language: str
    title: str
    first: int  # the place of its first line in the page
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def after(self) -> int:
        return self.first + len(self.lines)


@dataclass
class Shown:
    """What a page says that something prints, and what it did print."""

    what: str
    first: int
    after: int
    text: str
    real: str


def blocks(lines: list[str]) -> Iterator[Block]:
    block: Block | None = None
    for place, line in enumerate(lines):
        fence = FENCE.match(line)
        if block is not None and line == "```":
            yield block
            block = None
        elif block is not None:
            block.lines.append(line)
        elif fence:
            is_run = not lines[place - 1].startswith(NOT_RUN)
            block = Block((fence[1] or "") if is_run else "", fence[2] or "", place + 1)


def play(page: Path) -> Iterator[Shown]:
    """Run a page from top to bottom in the current folder; yield every output that it shows."""
    lines = page.read_text(encoding="utf-8").split("\n")
    module = ModuleType(f"page_{page.stem.replace('-', '_')}")
    sys.modules[module.__name__] = module  # where dataclasses look up the types of their fields
    found = list(blocks(lines))
    for block, following in zip_longest(found, found[1:]):
        if block.language == "python":
            printed = _run_python(block, module, page)
            is_next = following is not None and not "".join(lines[block.after + 1 : following.first - 1]).strip()
            if is_next and following.language == "text":
                yield Shown("the block above", following.first, following.after, following.text, printed)
            else:
                assert not printed, f"{page.name}:{block.first} prints something that the page does not show"
        elif block.language == "toml":
            Path(block.title).write_text(block.text + "\n", encoding="utf-8")
            readers = {"[federations.": read_plan, "[arm]": Features.read, "store = ": read_agent_plan}
            next((read for words, read in readers.items() if words in block.text), read_experiment)(Path(block.title))
        elif block.language == "console":
            yield from _run_commands(block)


def _run_python(block: Block, module: ModuleType, page: Path) -> str:
    if block.title:
        Path(block.title).write_text(block.text + "\n", encoding="utf-8")
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(block.text, f"{page.name}:{block.first}", "exec"), module.__dict__)
        if block.title.startswith("test_"):
            for name in re.findall(r"^def (test_\w+)", block.text, re.MULTILINE):
                vars(module)[name]()
    return printed.getvalue().rstrip()


def _run_commands(block: Block) -> Iterator[Shown]:
    place = 0
    while place < len(block.lines):
        begin = place
        while block.lines[place].endswith("\\"):
            place += 1
        place += 1
        command = " ".join(line.rstrip("\\").strip() for line in block.lines[begin:place]).removeprefix("$ ")
        first = place
        while place < len(block.lines) and not block.lines[place].startswith("$ "):
            place += 1
        shown = "\n".join(block.lines[first:place])
        yield Shown(command, block.first + first, block.first + place, shown, _output(command))


def _output(command: str) -> str:
    command, _, file = command.partition(" > ")
    command, _, last = command.partition(" | tail -")
    program, *arguments = shlex.split(command)
    if program != "fedbandit":
        assert program in SHELL, f"a page may call fedbandit and {SHELL}, not {program}"
        return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout.rstrip()
    printed, code = io.StringIO(), None
    with redirect_stdout(printed), redirect_stderr(printed), mock.patch.object(sys, "argv", [program, *arguments]):
        try:
            main()
        except SystemExit as left:
            code = left.code
    assert not code or "fedbandit: " in printed.getvalue(), printed.getvalue()
    lines = [line.rstrip() for line in printed.getvalue().replace(f"{Path.cwd()}/", "").split("\n")]
    lines = [line for line, before in zip(lines, ["", *lines], strict=False) if line or before]
    text = "\n".join(lines[-int(last) - 1 :] if last else lines).rstrip()
    if file:
        Path(file).write_text(text + "\n", encoding="utf-8")
    return "" if file else text


def gist(text: str) -> str:
    """Return the words of an output: without frames, spread and layout, and with # for every number."""
    text = re.sub(r"[^\x00-\x7fγ±…µ]", " ", text)
    return " ".join(re.sub(r"± #", "", NUMBER.sub("#", text)).split())


def with_its_extra(page: Path) -> Iterator[Shown]:
    """Run a page, or skip it where it needs a package that is not here."""
    try:
        yield from play(page)
    except InvalidInput as error:
        if "not installed" not in str(error):
            raise
        pytest.skip(str(error))


@pytest.fixture
def one_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder and a terminal of its own, one core, and registries that forget what the page adds.

    What the page is the first to import of the library stays known: it is imported once.
    """
    for registry in (algorithms, environments, experiments):
        monkeypatch.setattr(registry, "_things", {name: registry[name] for name in registry})
    monkeypatch.setattr(tuning, "TUNED", dict(tuning.TUNED))  # whole, as all experiments are known by now
    monkeypatch.setattr(screen.out, "width", WIDTH)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    monkeypatch.setattr(demo, "TURNS", 3_000)  # shows the same in a tenth of the time
    monkeypatch.chdir(tmp_path)
    before = dict(Message.known)
    yield
    imported = {kind: each for kind, each in Message.known.items() if each.__module__.startswith("fedbandit.")}
    Message.known.clear()
    Message.known.update(imported | before)


@pytest.mark.usefixtures("one_terminal")
@pytest.mark.parametrize(
    "page", [pytest.param(page, id=page.stem, marks=[pytest.mark.slow] * (page.stem in LONG)) for page in PAGES]
)
def test_a_page_runs_and_shows_what_really_comes_out(page: Path) -> None:
    for shown in with_its_extra(page):
        if shown.what == "the block above":
            assert shown.text == shown.real
        else:
            real = gist(shown.real)
            missing = [line for line in shown.text.split("\n") if gist(line) not in real]
            assert not missing, f"{shown.what} does not print {missing}"


def test_every_option_of_every_command_is_on_the_page_of_the_command_line() -> None:
    text = next(page for page in PAGES if page.stem == "command-line").read_text(encoding="utf-8")
    command = pytest.importorskip("typer").main.get_command(app)
    for name, each in command.commands.items():
        assert f"## fedbandit {name}" in text
        for parameter in each.params:
            option = parameter.opts[0]
            assert not option.startswith("--") or option == "--help" or f"`{option}" in text, f"{name} {option}"


def test_every_algorithm_and_environment_is_on_some_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [name for name in [*algorithms, *environments] if f"`{name}`" not in text] == []


def refresh(page: Path) -> None:
    """Write the real output into a page."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        outputs = list(play(page))
    lines = page.read_text(encoding="utf-8").split("\n")
    for shown in reversed(outputs):
        lines[shown.first : shown.after] = shown.real.split("\n") if shown.real else []
    page.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    screen.out.width = WIDTH
    os.cpu_count = lambda: 1
    for each in PAGES:
        if not sys.argv[1:] or each.stem in sys.argv[1:]:
            refresh(each)

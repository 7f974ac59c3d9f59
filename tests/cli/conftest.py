"""The command line, called as a person calls it, but in this process and in an empty folder."""

import functools
from typing import NamedTuple

import pytest
import typer.main

from fedbandit.cli import main, screen
from samples.standard_error import COMPILING


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(scope="session", autouse=True)
def commands_are_read_once():
    """A program reads the declarations of its commands when it starts, which takes longer than most tests here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", functools.cache(typer.main.get_command))
        yield


@pytest.fixture
def fedbandit(monkeypatch, capsys, tmp_path):
    """Call `fedbandit ARGUMENTS...`; return the exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(screen.out, "width", 200)  # it may have been made before, in a narrow terminal
    capsys.readouterr()

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["fedbandit", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        out, err = capsys.readouterr()
        return Said(code, out, err.replace(COMPILING, ""))  # said where kernels have not been compiled yet

    return call

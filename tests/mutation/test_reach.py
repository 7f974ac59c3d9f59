"""The tests that are asked about a mistake are those that reach its line, or may know it where none is seen to."""

from __future__ import annotations

import json

import coverage
import pytest

from mutation.operators import Mistake
from mutation.reach import LINES, SECONDS, Reach, chosen
from mutation.targets import ROOT, TARGETS

PATH = "src/fedbandit/wire/reader.py"
OWN, FOLDER, FAR = "tests/wire/test_reader.py::a", "tests/wire/test_codec.py::b", "tests/protocol/test_client.py::c"
ELSEWHERE = "tests/results/test_plots.py::d"


@pytest.fixture
def reach(tmp_path):
    data = coverage.CoverageData(str(tmp_path / LINES))
    for context, lines in {"": [1, 2, 9], OWN: [10, 14], FAR: [10]}.items():
        data.set_context(context)
        data.add_lines({str(ROOT / PATH): lines})
    data.write()
    (tmp_path / SECONDS).write_text(json.dumps({OWN: 0.3, FOLDER: 0.2, FAR: 0.1, ELSEWHERE: 0.0}))
    return Reach(tmp_path)


def asked(reach: Reach, line: int, name: str = "wire", seconds: float = 60.0) -> list[str]:
    target = next(each for each in TARGETS if each.name == name)
    return reach.tests(target, Mistake(PATH, line, 0, 0, 1, "", ""), seconds)


@pytest.mark.parametrize(("line", "tests"), [(10, [OWN, FAR]), (12, [OWN, FAR]), (14, [OWN])])
def test_those_that_reach_the_statement_are_asked_the_nearest_first(reach, line, tests):
    assert asked(reach, line) == tests


def test_of_a_line_that_runs_at_import_all_that_may_know_the_file_are_asked(reach):
    assert asked(reach, 9) == [OWN, FOLDER, FAR]


def test_lines_of_compiled_kernels_are_not_seen_so_all_that_may_know_them_are_asked(reach):
    assert FOLDER in asked(reach, 14, "kernels")


def test_no_more_are_asked_than_the_time_allows(reach):
    assert asked(reach, 10, seconds=0.35) == [OWN]


def test_one_of_each_function_comes_before_a_second_of_any():
    tests = {"tests/a.py::one[1]": 0.1, "tests/a.py::one[2]": 0.2, "tests/b.py::two": 0.3}
    assert chosen(tests, ("tests/a.py",), 1.0) == ["tests/a.py::one[1]", "tests/b.py::two", "tests/a.py::one[2]"]

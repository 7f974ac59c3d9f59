"""Which tests reach which lines, and how long each takes: one run of the tests under coverage.py, kept in a folder.

    cd tests && python -m mutation.reach

Not seen: lines of compiled kernels, lines that run when a module is imported, and lines that run in another process.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import cached_property
from pathlib import Path

import coverage
import pytest

from mutation.operators import Mistake
from mutation.targets import ROOT, TARGETS, Target, folders, near

PLACE = ROOT / "build" / "reached"
LINES, SECONDS = "lines.coverage", "seconds.json"


class Recorder:
    """A plugin of pytest that notes which test runs while lines are reached, and how long each takes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        files = [str(path) for target in TARGETS for path in target.files()]
        self.coverage = coverage.Coverage(data_file=str(folder / LINES), include=files, config_file=False)
        self.coverage.erase()
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        self.coverage.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self.coverage.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = round(self.seconds.get(report.nodeid, 0.0) + report.duration, 3)
        if not report.passed:  # what fails or is skipped without any mistake has nothing to say
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        self.coverage.save()
        passed = {name: seconds for name, seconds in self.seconds.items() if name not in self.failed}
        (self.folder / SECONDS).write_text(json.dumps(passed, indent=1), encoding="utf-8")


class Reach:
    """What a recorded run tells: the tests to ask about a mistake."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds: dict[str, float] = json.loads((folder / SECONDS).read_text(encoding="utf-8"))

    @cached_property
    def _lines(self) -> coverage.CoverageData:
        data = coverage.CoverageData(str(self.folder / LINES))
        data.read()
        return data

    def tests(self, target: Target, mistake: Mistake, seconds: float) -> list[str]:
        """Return the tests to ask: those that reach the line, the nearest and quickest first, for so many seconds."""
        path = ROOT / mistake.path
        known = self._lines.contexts_by_lineno(str(path))
        begun = max((line for line in known if line <= mistake.line), default=0)  # the statement's first line
        found = {test for test in known.get(begun, []) if test in self.seconds}
        if not found or target.is_compiled:
            found |= {test for tests in known.values() for test in tests if test in self.seconds}
            found |= {test for test in self.seconds if _is_in(test, folders(target, path))}
        return chosen({test: self.seconds[test] for test in found}, near(path), seconds)


def chosen(tests: dict[str, float], places: tuple[str, ...], seconds: float) -> list[str]:
    """Return tests that take so many seconds together: near before far, one of each function before more, quick first.

    >>> chosen({"far::a": 0.1, "near::b[1]": 0.3, "near::b[2]": 0.2, "near::c": 0.4}, ("near",), 0.8)
    ['near::b[2]', 'near::c', 'far::a']
    """
    functions: set[str] = set()
    ranked = []
    for test in sorted(tests, key=lambda test: (tests[test], test)):
        function = test.partition("[")[0]
        rank = next((place for place, name in enumerate(places) if _is_in(test, (name,))), len(places))
        ranked.append((function in functions, rank, tests[test], test))
        functions.add(function)
    taken: list[str] = []
    for _, _, cost, test in sorted(ranked):
        if cost <= seconds:
            seconds -= cost
            taken.append(test)
    return taken


def _is_in(test: str, places: tuple[str, ...]) -> bool:
    return any(test.startswith((f"{place}/", f"{place}::")) for place in places)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=PLACE, help="a folder")
    parser.add_argument("tests", nargs="*", help="files and folders, from the root of the project; all by default")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(given.output)
    places = [str(ROOT / each) for each in given.tests or ("tests", "src")]
    options = ["-m", "not slow", "-p", "no:cacheprovider", "--rootdir", str(ROOT), *places]
    sys.exit(pytest.main(options, plugins=[recorder]))


if __name__ == "__main__":
    main()

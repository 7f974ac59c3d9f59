"""Do the tests notice a programmer's mistakes? Make some in a copy of the project, one at a time, and ask them.

    cd tests && python -m mutation.reach
    python -m mutation.run --sample 200 --seed 1

With `--part 1/2` and `--part 2/2` two processes share the work and the file. A run that is stopped goes on.

Of the tests of `make test`, those that reach the line are asked, the nearest and quickest first, and no more than take
`--seconds` in the first command: so at least the share that the table says is noticed. A mistake is noticed if a test
fails, or hangs. What is not noticed is listed; mutation/equivalent.json says of which of these no test can notice
anything, and why.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Never

import numba
import numpy
import pytest
import scipy.linalg
import scipy.stats

from mutation.operators import Finder, Mistake
from mutation.reach import PLACE, Reach
from mutation.targets import ROOT, TARGETS, Target

PATIENCE = 60  # seconds beyond four times what tests take: what takes longer hangs
PATIENCE_TO_COMPILE = 300
FEW_FILES = 3
EQUIVALENT = Path(__file__).parent / "equivalent.json"
LIBRARIES = (numba, numpy, scipy)  # imported once, before a process for each mistake is made
COPIED = ("src", "tests", "docs", "benchmarks", "pyproject.toml", "conftest.py", "README.md", "mkdocs.yml")


def sample(size: int, seed: int) -> list[tuple[Target, Mistake]]:
    """Draw mistakes, each target by its share."""
    chosen = []
    total = sum(target.share for target in TARGETS)
    for target in TARGETS:
        rng = random.Random(f"{seed} {target.name}")
        found = [each for path in target.files() for each in _mistakes(path)]
        chosen += [(target, each) for each in rng.sample(found, min(len(found), round(size * target.share / total)))]
    random.Random(seed).shuffle(chosen)  # so that a run that is stopped has judged some of each
    return chosen


def _mistakes(path: Path) -> list[Mistake]:
    return Finder(str(path.relative_to(ROOT)), path.read_bytes()).find()


class Copy:
    """A copy of the project in which one mistake at a time is made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.machine_code = folder / "machine_code"
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("*.pyc"))
            elif source.exists():
                shutil.copy2(source, folder / name)

    def judge(self, mistake: Mistake, tests: list[str], seconds: float, is_compiled: bool) -> str:
        """Return who of some tests, which take so many seconds, noticed a mistake, or nothing."""
        path = self.folder / mistake.path
        right, times = path.read_bytes(), path.stat()
        path.write_bytes(mistake.applied(right))
        _forget_compiled(path)
        shutil.rmtree(self.machine_code, ignore_errors=True)
        try:
            patience = 4 * seconds + (PATIENCE_TO_COMPILE if is_compiled else PATIENCE)
            asked = (self._ask(some, is_compiled, patience) for some in _few_files_first(tests))
            return next((noticed for noticed in asked if noticed), "")
        finally:
            path.write_bytes(right)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            _forget_compiled(path)

    def _ask(self, tests: list[str], is_compiled: bool, seconds: float) -> str:
        """Run tests in a process that has the libraries already; return what failed, or nothing."""
        said = self.folder / "said.txt"
        child = os.fork()
        if not child:
            self._test(tests, is_compiled, said)
        end = time.monotonic() + seconds
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            if time.monotonic() > end:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return "the tests hang"
            time.sleep(0.05)
        code = os.waitstatus_to_exitcode(status)
        lines = said.read_text(encoding="utf-8", errors="replace").splitlines()
        failed = [line for line in lines if line.startswith(("FAILED tests", "FAILED src", "ERROR tests", "ERROR src"))]
        if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return ""
        return failed[0][:200] if failed else f"exit code {code}"

    def _test(self, tests: list[str], is_compiled: bool, said: Path) -> Never:
        """Be the process that runs tests: whatever happens, it ends here."""
        code = 99
        try:
            os.setsid()
            os.chdir(self.folder)
            with said.open("w", encoding="utf-8") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            os.environ.update(PYTHONPATH=str(self.folder / "src"), COLUMNS="200")
            if is_compiled:  # machine code with a mistake in it is kept apart from what is right
                os.environ["NUMBA_CACHE_DIR"] = numba.config.CACHE_DIR = str(self.machine_code)
            sys.path[:0] = [str(self.folder / "src")]
            files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
            options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", *files]
            code = int(pytest.main(options, plugins=[Asked(tests)]))
            sys.stdout.flush()
        finally:
            os._exit(code)


class Asked:
    """A plugin of pytest that leaves these tests of those found, in this order."""

    def __init__(self, tests: list[str]) -> None:
        self._places = {test: place for place, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._places), key=lambda item: self._places[item.nodeid]
        )


def _few_files_first(tests: list[str]) -> list[list[str]]:
    """Return tests in two groups: most mistakes are noticed in the first few files, and importing more takes long."""
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))[:FEW_FILES]
    first = [test for test in tests if test.partition("::")[0] in files]
    rest = [test for test in tests if test.partition("::")[0] not in files]
    return [group for group in (first, rest) if group]


def _forget_compiled(path: Path) -> None:
    for each in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        each.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", default="1/1", help="which part of the sample this process takes")
    parser.add_argument("--only", default="", help="the names of targets, with commas between")
    parser.add_argument("--reached", type=Path, default=PLACE, help="what mutation.reach wrote")
    parser.add_argument("--seconds", type=float, default=60.0, help="the most that the tests of one mistake take")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "mutants.jsonl")
    given = parser.parse_args()
    part, parts = map(int, given.part.split("/"))
    names = given.only.split(",") if given.only else [target.name for target in TARGETS]
    wanted = [each for each in sample(given.sample, given.seed) if each[0].name in names]
    reach = Reach(given.reached)
    with tempfile.TemporaryDirectory() as place:
        copy = Copy(Path(place))
        for target, mistake in wanted[part - 1 :: parts]:
            if mistake.name in _read(given.output):
                continue
            tests = reach.tests(target, mistake, given.seconds)
            seconds = sum(reach.seconds[test] for test in tests)
            noticed = copy.judge(mistake, tests, seconds, target.is_compiled) if tests else ""
            row = {"target": target.name, "mistake": mistake.name, "noticed": noticed}
            with given.output.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print("." if row["noticed"] else f"\nnot noticed: {mistake.name}", end="", flush=True)
    drawn = {mistake.name for _, mistake in wanted}
    _show([row for row in _read(given.output).values() if row["mistake"] in drawn])


def _read(path: Path) -> dict[str, dict[str, str]]:
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row["mistake"]: row for row in rows}


def _show(rows: list[dict[str, str]]) -> None:
    equivalent = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    counted: Counter[tuple[str, str]] = Counter()
    print("\n\n| part | made | noticed | no test can notice | missed |\n| --- | ---: | ---: | ---: | ---: |")
    for row in rows:
        kind = "noticed" if row["noticed"] else "equivalent" if _reason(row, equivalent) else "missed"
        counted[row["target"], kind] += 1
    for name in [*dict.fromkeys(row["target"] for row in rows)]:
        kinds = [counted[name, kind] for kind in ("noticed", "equivalent", "missed")]
        print(f"| {name} | {sum(kinds)} | {' | '.join(map(str, kinds))} |")
    real = [row for row in rows if row["noticed"] or not _reason(row, equivalent)]
    noticed = sum(bool(row["noticed"]) for row in real)
    print(f"\n{noticed} of {len(real)} that can be noticed were: {noticed / max(1, len(real)):.1%}")
    for row in rows:
        if not row["noticed"]:
            print(f"- {row['mistake']}: {_reason(row, equivalent) or 'MISSED'}")


def _reason(row: dict[str, str], equivalent: dict[str, str]) -> str:
    """Return why no test can notice a mistake; lines move, so it is known by its file and words."""
    path, _, _, words = row["mistake"].split(":", 3)
    return equivalent.get(f"{path}:{words}", "")


if __name__ == "__main__":
    main()

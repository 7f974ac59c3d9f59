"""Rules of the house that no linter has."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/fedbandit"
MOST_LINES = 250
PAGES = sorted(each.relative_to(ROOT) for folder in (ROOT, ROOT / "docs") for each in folder.glob("*.md"))
IN_THE_CHECKOUT = re.compile(r"`((?:\.github|benchmarks|clients|deploy|docs|notebooks|src|tests)/[\w./-]+)`")
IN_THE_PACKAGE = re.compile(rf"`((?:{'|'.join(each.name for each in SOURCE.iterdir() if each.is_dir())})/[\w/]+\.py)`")
FOLDERS = (ROOT, SOURCE, ROOT / "tests")  # where a path may begin
MADE = {"deploy/.env", "tests/golden/VERSION/"}  # by whoever reads the page


def test_no_file_is_too_long_to_be_read_at_one_sitting():
    files = [path for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert lengths, "there is something to measure"
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}, "divide it by subject"


def test_the_table_of_folders_is_that_of_the_import_rules():
    layered, _ = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Add a paper")[0]
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    assert re.findall(r"`(\w+)`", "".join(rows)) == [each.removeprefix("fedbandit.") for each in layered["layers"]]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_files_that_a_page_names_are_there(page):
    text = (ROOT / page).read_text("utf-8")
    named = set(IN_THE_CHECKOUT.findall(text) + IN_THE_PACKAGE.findall(text)) - MADE
    assert {each for each in named if not any((folder / each).exists() for folder in FOLDERS)} == set()

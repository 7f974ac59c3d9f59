"""Rules of the house that no linter has."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_LINES = 250


def test_no_file_is_too_long_to_be_read_at_one_sitting():
    files = [path for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert lengths, "there is something to measure"
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}, "divide it by subject"

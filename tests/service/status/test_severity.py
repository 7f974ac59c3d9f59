"""Every kind of concern that is raised anywhere is known, and stands on the page that says what to do."""

from __future__ import annotations

import ast
from pathlib import Path

import fedbandit
from fedbandit.durable.coordinator.concerns import Concern
from fedbandit.service.status import watch
from fedbandit.service.status.severity import GRAVE, LIGHT, OTHER, by_kind, is_grave

SOURCE = Path(fedbandit.__file__).parent
PAGE = Path(__file__).parents[3] / "docs" / "deployment.md"


def raised():
    """Return the kinds that the source raises by name."""
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                kind = node.args[0]
                is_word = isinstance(kind, ast.Constant) and isinstance(kind.value, str)
                if node.func.attr in ("note", "concern") and is_word:
                    yield kind.value
    yield from (watch.REFUSED, watch.PUT_OFF, watch.BACKLOG, watch.OUTWEIGHS)


def test_every_kind_that_is_raised_is_known():
    assert set(raised()) <= {*GRAVE, *LIGHT}


def test_every_kind_stands_in_the_documentation_and_the_grave_ones_as_such():
    text = PAGE.read_text(encoding="utf-8")
    for kind in GRAVE:
        assert f"| `{kind}` (grave) |" in text
    for kind in LIGHT:
        assert f"| `{kind}` |" in text


def test_kinds_that_are_not_known_are_counted_together():
    concerns = [Concern(f"made-up-{number}", "a sentence", 0.0, number) for number in range(9)]
    found = by_kind([*concerns, Concern("backlog", "a sentence", 0.0, 3)])
    assert (found[OTHER], found["backlog"], found["journal-damaged"]) == (9, 1, 0)


def test_what_concerns_a_site_is_never_grave():
    for kind in GRAVE:
        assert is_grave(Concern(kind, "a sentence", 0.0))
        assert not is_grave(Concern(kind, "a sentence", 0.0, site=0))

"""The mistakes that are made on purpose are mistakes, in programs that still run."""

from __future__ import annotations

import ast

from mutation.operators import Finder

SOURCE = b'''
def most(values: list[int], limit: int = 3) -> int:
    """Return the most."""
    if not values or limit < 0:
        raise ValueError(f"{limit + 1} is too low")
    log.warning("of %d", len(values) + 1)
    return max(values) + (limit) * 2
'''


def test_each_mistake_is_one_edit_that_leaves_a_program():
    mistakes = Finder("most.py", SOURCE).find()
    for each in mistakes:
        changed = each.applied(SOURCE)
        assert changed != SOURCE
        ast.parse(changed)
    said = " | ".join(each.what for each in mistakes)
    for edit in ("'or' becomes 'and'", "'<' becomes '<='", "'max' becomes 'min'", "'*' becomes '/'", "'3' becomes '4'"):
        assert edit in said


def test_what_is_only_said_is_left_alone():
    said = [each.what for each in Finder("most.py", SOURCE).find()]
    assert not [each for each in said if "log.warning" in each]
    assert not [each for each in said if each.startswith("'+'") and "too low" in each]

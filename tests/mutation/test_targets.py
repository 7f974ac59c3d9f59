"""What is to be mutated is there, and so are the tests that may know it."""

from __future__ import annotations

import pytest

from mutation.targets import ROOT, SOURCE, TARGETS


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_every_pattern_finds_files_and_every_folder_of_tests_is_there(target):
    assert [pattern for pattern in target.patterns if not list(SOURCE.glob(pattern))] == []
    assert [each for each in target.tests if "{" not in each and not (ROOT / each).exists()] == []

"""A process that is tied to its parent; and one that is not, where that cannot be had."""

import subprocess
import sys

import pytest

from fedbandit.transport import tether


@pytest.mark.parametrize("tie", [("no-such-program",), (sys.executable, "-c", "raise SystemExit(1)", "--"), tether.TIE])
def test_a_process_begins_whether_or_not_it_can_be_tied(monkeypatch, tie):
    monkeypatch.setattr(tether, "TIE", tie)
    tether._tie.cache_clear()
    try:
        with tether.begin([sys.executable, "-c", "print('here')"], stdout=subprocess.PIPE) as process:
            assert process.communicate()[0].strip() == b"here"
        assert process.returncode == 0
    finally:
        tether._tie.cache_clear()

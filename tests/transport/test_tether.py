"""A process that is tied to its parent; and one that is not, where that cannot be had."""

import os
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


def test_ctrl_c_in_a_terminal_is_not_for_the_process_itself():
    tell = "import os; print(os.getsid(0))"
    with tether.begin([sys.executable, "-c", tell], stdout=subprocess.PIPE) as process:
        assert int(process.communicate()[0]) != os.getsid(0)

"""Processes that end with whoever started them, whatever ends that."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

TIE = ("setpriv", "--pdeathsig", "TERM")  # of util-linux: Linux then sends SIGTERM when the parent ends


def begin(command: Sequence[str], **more: Any) -> subprocess.Popen[bytes]:
    """Begin a process, in a session of its own: Ctrl-C in a terminal is for whoever began it to handle.

    On Linux it gets SIGTERM when the thread that began it ends, even if that is killed; where that cannot be had, it
    lives on.
    """
    return subprocess.Popen([*_tie(), *command], start_new_session=True, **more)


@cache
def _tie() -> tuple[str, ...]:
    """Return what stands before a command that is to be tied."""
    try:
        tried = subprocess.run([*TIE, sys.executable, "-c", ""], capture_output=True, check=False)
    except OSError:
        return ()
    return () if tried.returncode else TIE

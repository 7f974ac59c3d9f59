"""How much memory there is to take."""

from __future__ import annotations

import os
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def free_memory() -> int:
    """Return the memory that new processes can have: what the system says is available, or its whole size.

    In a container it is at most what the container may have in all.
    """
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text(encoding="ascii").splitlines())
        free = 1024 * sum(int(lines[name].split()[0]) for name in ("MemAvailable", "SwapFree"))
    except (OSError, KeyError):
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(free, int(_CONTAINER.read_text(encoding="ascii")))
    except (OSError, ValueError):  # there is none, or it says "max"
        return free

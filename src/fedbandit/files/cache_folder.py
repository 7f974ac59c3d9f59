"""The folder for what can be made again, and should not have to be: downloads, parsed data sets, compiled programs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CACHE_VARIABLE = "FEDBANDIT_CACHE"


def cache_folder() -> Path:
    """Return the user's cache folder for fedbandit: FEDBANDIT_CACHE, or the platform's usual place.

    >>> cache_folder().name != ""
    True
    """
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "fedbandit" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fedbandit"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fedbandit"

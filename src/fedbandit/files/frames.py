"""Data frames: columns by name, in the library that the caller works with."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from fedbandit.core.errors import InvalidInput

LIBRARIES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}  # with what each makes of columns


def frame_of(columns: Mapping[str, Any], library: str) -> Any:
    """Return columns of equal length as a data frame of a library.

    >>> frame_of({"regret": [1.0, 0.5]}, "numpy")
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: library='numpy': give pandas, polars or pyarrow
    """
    if library not in LIBRARIES:
        raise InvalidInput(f"library={library!r}: give pandas, polars or pyarrow")
    try:
        module = import_module(library)
    except ImportError:
        others = " or ".join(each for each in LIBRARIES if each != library)
        raise InvalidInput(f"{library} is not installed: pip install {library}, or give library={others}") from None
    return getattr(module, LIBRARIES[library])(dict(columns))

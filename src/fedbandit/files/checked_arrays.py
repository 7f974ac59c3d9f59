"""Arrays of a user's file: taken as declared, or refused in one sentence that names the array and the place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput


def numbers_of(
    arrays: Mapping[str, np.ndarray[Any, Any]], name: str, shape: tuple[int | None, ...], source: str
) -> Floats:
    """Return the finite numbers of an array; an axis of length None may have any length.

    >>> numbers_of({"scores": np.array([[1, 2]])}, "scores", (None, 2), "the file")
    array([[1., 2.]])
    """
    array = array_of(arrays, name, shape, source)
    if array.dtype.kind not in "fiub":
        raise InvalidInput(f"{name} must hold numbers, not {array.dtype}: store it as floats")
    array = np.ascontiguousarray(array, dtype=np.float64)
    refuse_where(~np.isfinite(array), array, name, "every value must be finite")
    return array


def array_of(
    arrays: Mapping[str, np.ndarray[Any, Any]], name: str, shape: tuple[int | None, ...], source: str
) -> np.ndarray[Any, Any]:
    """Return an array of whatever is in it, if it has the shape."""
    if name not in arrays:
        raise InvalidInput(f"{source} has no array {name!r} (it has {', '.join(sorted(arrays)) or 'none'}): add it")
    array = arrays[name]
    fits = array.ndim == len(shape) and all(
        want is None or want == have for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits or 0 in array.shape[1:]:
        wanted = (
            "("
            + ", ".join("n" if each is None else str(each) for each in shape)
            + ("," if len(shape) == 1 else "")
            + ")"
        )
        raise InvalidInput(f"{name} has shape {array.shape}, but {wanted} with n at least 1 is needed: reshape it")
    return array


def refuse_where(bad: np.ndarray[Any, Any], array: np.ndarray[Any, Any], name: str, why: str) -> None:
    """Refuse an array for the first of its values that is bad, if any is."""
    if bad.any():
        place = np.unravel_index(int(np.argmax(bad)), bad.shape)
        index = ", ".join(str(int(each)) for each in place)
        raise InvalidInput(f"{name}[{index}] is {array[place]}: {why}")

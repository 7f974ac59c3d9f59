"""What a log of decisions tells of a decision before its reward is known."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.interfaces import Clients
from fedbandit.protocol.charter import Charter


class LogRows:
    """Makes the fields of a row, as a part of a JSON object."""

    def __init__(self, charter: Charter, side: Clients, number: int, *, is_raw: bool) -> None:
        """Take what decides; raw rows have contexts and arms as the application gave them, others have vectors."""
        self.is_raw = is_raw
        self._shares_context = charter.algorithm.shares_context
        self._arms = charter.setting.arms
        self._fixed = f'"site":{number},"charter":"{charter.fingerprint:016x}","explore":{side.explore!r},'.encode()

    def of(self, version: int, offer: Floats, now: float, given: tuple[Any, ...]) -> bytes:
        """Return the fields of a decision; given are context, arms, ids, choice, propensity and prediction."""
        context, arms, ids, choice, propensity, predicted = given
        if self._shares_context and ids is None:
            ids = range(self._arms)
        if not self.is_raw:
            vectors = offer[0].tolist()
            context, arms = (vectors, None) if self._shares_context else (None, vectors)
        told = _json({"context": context, "arms": arms, "ids": ids, "choice": choice, "propensity": propensity})
        shown = "null" if predicted is None else repr(predicted)
        begin, end = f'"time":{now!r},"version":{version},', f',"predicted":{shown}'
        return begin.encode() + self._fixed + told[1:-1] + end.encode()


def _plain(value: Any) -> Any:
    """Return what JSON has no notation for as something that it has one for."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, set | frozenset | range) else str(value)


def _without_nan(value: Any) -> Any:
    """Return a value in which nothing stands where there was no number."""
    if isinstance(value, dict):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(each) for each in value]
    if isinstance(value, np.generic | np.ndarray):
        return _without_nan(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False, default=_plain)


@cache
def _fast() -> Any:
    """Return what writes JSON in a fifth of the time where msgspec is installed; a site without a log imports none.

    What is no number, it writes as null.
    """
    try:  # whoever can talk to a broker has it
        import msgspec
    except ImportError:
        return None
    return msgspec.json.Encoder(enc_hook=_plain)


def _json(value: Any) -> bytes:
    fast = _fast()
    if fast is not None:
        try:
            written: bytes = fast.encode(value)
            return written
        except (ValueError, TypeError):  # half a character, say
            pass
    return _slowly(value)


def _slowly(value: Any) -> bytes:
    try:
        return _ENCODER.encode(value).encode()
    except (ValueError, TypeError):  # not a number, or keys that are no texts
        return _ENCODER.encode(_without_nan(value)).encode()

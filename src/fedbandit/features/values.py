"""Values as texts, and where a hash places them: the same in every language that has UTF-8 and MurmurHash3."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.kernels.features.murmur import murmur3_at_once

_TOKEN = re.compile(rb"[a-z0-9\x80-\xff]+")


def text_of(value: Any) -> str | None:
    """Return a value as text, None where it is missing; TypeError for what has no text that all languages agree on.

    >>> text_of("A-17"), text_of(42), text_of(42.0), text_of(True), text_of(None), text_of(float("nan"))
    ('A-17', '42', '42', 'true', None, None)
    """
    if isinstance(value, str):
        return str(value)
    if value is None:
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        if value != value:  # NaN
            return None
        if float(value).is_integer():
            return str(int(value))
    raise TypeError


def texts_of(value: Any) -> str | tuple[str, ...] | None:
    """Return one value as text, or a list of values as texts, without those that are missing.

    >>> texts_of(["A-17", 2]), texts_of("A-17")
    (('A-17', '2'), 'A-17')
    """
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        texts = [text_of(each) for each in value]
        return tuple(each for each in texts if each is not None)
    return text_of(value)


def different_texts(values: Any) -> tuple[str, ...]:
    """Return a list of values as texts; none of them if one is missing, has no text or is there twice.

    >>> different_texts(["low", 2]), different_texts([1, "1"])
    (('low', '2'), ())
    """
    try:
        texts = [text_of(each) for each in values] if isinstance(values, list | tuple) else []
    except TypeError:
        return ()
    found = tuple(each for each in texts if each is not None)
    return found if len(set(found)) == len(texts) else ()


def tokens(text: str) -> list[bytes]:
    """Return the runs of ASCII letters, digits and bytes from 0x80 on, with A to Z in lower case.

    >>> [each.decode() for each in tokens("Größe 42: RED-shoes!")]
    ['größe', '42', 'red', 'shoes']
    """
    return _TOKEN.findall(text.encode().lower())


def place_of(data: bytes, size: int, seed: int = 0) -> tuple[int, int]:
    """Return where a hash places something among `size` coordinates, and with which sign.

    >>> place_of(b"segment=gold", 16)
    (11, -1)
    """
    found = murmur3_at_once(np.frombuffer(data, np.uint8), seed)
    return abs(found) % size, 1 if found >= 0 else -1


def hashed_block(named: list[bytes], size: int) -> Floats:
    """Return the sum of the signed unit vectors of some names, divided by its length if that is not 0.

    >>> hashed_block([b"sku=A-17", b"sku=B-2"], 8)
    array([0.        , 0.        , 0.        , 0.70710678, 0.        ,
           0.        , 0.        , 0.70710678])
    """
    block = np.zeros(size)
    for each in named:
        place, sign = place_of(each, size)
        block[place] += sign
    length = float(np.sqrt(block @ block))
    return block / length if length else block

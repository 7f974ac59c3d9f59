"""MurmurHash3 in its x86 form of 32 bits: the hash by which scikit-learn, Vowpal Wabbit and Spark place features."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fedbandit.kernels.shared.at_once import AtOnce
from fedbandit.kernels.shared.compiled import compiled

MASK = 0xFFFFFFFF


@compiled
def murmur3(data: npt.NDArray[np.uint8], seed: int) -> int:
    """Return the hash of bytes as a signed number of 32 bits.

    >>> murmur3(np.frombuffer(b"abcd", np.uint8), 0)
    1139631978
    """
    state = seed
    whole = data.size - data.size % 4
    for i in range(0, whole, 4):
        word = int(data[i]) | int(data[i + 1]) << 8 | int(data[i + 2]) << 16 | int(data[i + 3]) << 24
        state ^= _mixed(word)
        state = (state << 13 | state >> 19) & MASK
        state = (state * 5 + 0xE6546B64) & MASK
    word = 0
    for i in range(data.size - 1, whole - 1, -1):
        word = word << 8 | int(data[i])
    state ^= _mixed(word)  # of no bytes: 0, which changes nothing
    state ^= data.size
    state ^= state >> 16
    state = (state * 0x85EBCA6B) & MASK
    state ^= state >> 13
    state = (state * 0xC2B2AE35) & MASK
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


@compiled
def _mixed(word: int) -> int:
    word = (word * 0xCC9E2D51) & MASK
    word = (word << 15 | word >> 17) & MASK
    return (word * 0x1B873593) & MASK


murmur3_at_once = AtOnce(murmur3, lambda data, seed: 20 + data.size)  # noqa: ARG005

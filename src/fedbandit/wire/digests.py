"""A few bytes that tell one body of a frame from another, where two sites use the same numbers."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from hashlib import blake2b

DIGEST_BYTES = 8
MOST_ASKED = 32  # questions, one after the other, of which an upload tells


def digest(body: bytes) -> bytes:
    """Return a few bytes that tell one body from another.

    >>> len(digest(b"statistics"))
    8
    """
    return blake2b(body, digest_size=DIGEST_BYTES).digest()


def mark_of(body: bytes) -> int:
    """Return the digest of a body as a number that fits into an array of signed ones.

    >>> mark_of(b"statistics") >= 0
    True
    """
    return int.from_bytes(digest(body), "little") >> 1


def fold(questions: Sequence[int]) -> int:
    """Return two bytes that tell the last of some questions, given by their marks, from others; 0 for none.

    >>> fold([]), fold([mark_of(b"one")]) == fold([mark_of(b"other")])
    (0, False)
    """
    last = questions[-MOST_ASKED:]
    return max(1, mark_of(struct.pack(f"<{len(last)}q", *last)) & 0xFFFF) if last else 0

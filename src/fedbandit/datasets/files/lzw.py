"""Unpack `.Z` files, the format of the Unix tool compress, in which UCI still ships one of its sets.

The format is LZW with codes that widen from 9 bits to the width named in the header. Codes come in groups of
eight; when the width changes, or the table is cleared, the rest of the group is padding.
"""

from __future__ import annotations

MAGIC = b"\x1f\x9d"
CLEAR = 256


def unpack(packed: bytes) -> bytes:
    """Return the bytes that were packed; raise ValueError when `packed` is no `.Z` file.

    >>> unpack(bytes([0x1F, 0x9D, 0x90, 0x61, 0xC4, 0x8C, 0x01]))
    b'abc'
    """
    if packed[:2] != MAGIC or len(packed) < 3:
        raise ValueError("not a .Z file")
    widest, clears = packed[2] & 0x1F, bool(packed[2] & 0x80)
    if not 9 <= widest <= 16:
        raise ValueError(f"codes of {widest} bits")
    table = _fresh_table(clears)
    width, position = 9, 3
    previous: bytes | None = None
    pieces: list[bytes] = []
    while position < len(packed):
        group = packed[position : position + width]
        position += width
        bits, mask = int.from_bytes(group, "little"), (1 << width) - 1
        for _ in range(len(group) * 8 // width):
            code, bits = bits & mask, bits >> width
            if clears and code == CLEAR:
                table, width, previous = _fresh_table(clears), 9, None
                break
            entry = _entry(table, code, previous)
            pieces.append(entry)
            if previous is not None and len(table) < 1 << widest:
                table.append(previous + entry[:1])
            previous = entry
            if len(table) > mask and width < widest:
                width += 1
                break
    return b"".join(pieces)


def _fresh_table(clears: bool) -> list[bytes]:
    single = [bytes([value]) for value in range(256)]
    return [*single, b""] if clears else single


def _entry(table: list[bytes], code: int, previous: bytes | None) -> bytes:
    if code < len(table):
        return table[code]
    if code == len(table) and previous is not None:
        # The one code that may name the entry that is being made: what came before, plus its own first byte.
        return previous + previous[:1]
    raise ValueError(f"code {code} is not defined yet")

"""Tables are read at once, and agree with reading them line by line."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedbandit.datasets import DamagedFile
from fedbandit.datasets.files import lzw, tables
from fedbandit.datasets.files.tables import Table

whole_numbers = st.integers(-(2**63), 2**63 - 1)


def table(body: bytes, separator: bytes = b",") -> Table:
    return Table("toy", "toy.txt", body, separator)


@given(
    rows=st.integers(1, 5).flatmap(
        lambda width: st.lists(st.lists(whole_numbers, min_size=width, max_size=width), min_size=1)
    ),
    separator=st.sampled_from([b",", b"\t", b"::", b" "]),
    line_end=st.sampled_from([b"\n", b"\r\n"]),
)
def test_whole_numbers_come_back(rows: list[list[int]], separator: bytes, line_end: bytes) -> None:
    body = line_end.join(separator.join(str(number).encode() for number in row) for row in rows)
    assert table(body, separator).integers(len(rows[0])).tolist() == rows


@given(st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=4), min_size=1))
def test_a_table_that_is_not_even_is_refused_at_its_first_uneven_line(rows: list[list[int]]) -> None:
    body = b"\n".join(b",".join(b"%d" % number for number in row) for row in rows)
    uneven = [line for line, row in enumerate(rows, 1) if len(row) != 2]
    if not uneven:
        assert table(body).integers(2).tolist() == rows
        return
    with pytest.raises(DamagedFile, match=f"toy.txt line {uneven[0]}: expected 2 columns"):
        table(body).integers(2)


@given(st.binary(max_size=40))
def test_any_bytes_give_numbers_or_one_clear_error(body: bytes) -> None:
    for read in (table(b"1,2\n" + body).integers, table(b"1,2\n" + body).decimals):
        with suppress(DamagedFile):
            assert read(2).shape[1] == 2


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_decimals_come_back(numbers: list[float]) -> None:
    body = "\n".join(repr(number) for number in numbers).encode()
    assert table(body).decimals(1)[:, 0].tolist() == numbers


def test_blocks_join_and_lines_keep_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_BYTES", 16)
    rows = [[index, index + 1] for index in range(50)]
    body = "\n".join(f"{first},{second}" for first, second in rows)
    assert table(body.encode()).integers(2).tolist() == rows
    with pytest.raises(DamagedFile, match=r"line 41: column 2 is 'x'"):
        table(body.replace("40,41", "40,x").encode()).integers(2)


def test_a_line_longer_than_a_block_is_still_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_BYTES", 4)
    assert table(b"1000000,2000000\n3,4").integers(2).tolist() == [[1000000, 2000000], [3, 4]]


def compressed(content: bytes, widest: int = 12) -> bytes:
    """Pack as the Unix tool compress does, without ever clearing the table."""
    codes = {bytes([value]): value for value in range(256)}
    following, phrase = 257, b""
    output: list[int] = []
    for byte in content:
        longer = phrase + bytes([byte])
        if longer in codes:
            phrase = longer
            continue
        output.append(codes[phrase])
        if following < 1 << widest:
            codes[longer] = following
            following += 1
        phrase = bytes([byte])
    output += [codes[phrase]] if phrase else []
    known, width = 257, 9
    group: list[int] = []
    groups: list[bytes] = []
    for sent, code in enumerate(output):
        group.append(code)
        known += sent > 0 and known < 1 << widest
        widens = known > (1 << width) - 1 and width < widest
        if len(group) == 8 or widens:
            groups.append(_group(group, width, padded=True))
            group = []
        width += widens
    groups.append(_group(group, width, padded=False))
    return b"\x1f\x9d" + bytes([0x80 | widest]) + b"".join(groups)


def _group(codes: list[int], width: int, padded: bool) -> bytes:
    bits = sum(code << (width * index) for index, code in enumerate(codes))
    return bits.to_bytes(width if padded else (width * len(codes) + 7) // 8, "little")


@given(st.binary(max_size=300), st.integers(1, 30))
def test_z_files_come_back_beyond_nine_bits(pattern: bytes, times: int) -> None:
    content = b"".join(pattern + bytes([index]) for index in range(times))
    assert lzw.unpack(compressed(content)) == content


def test_z_files_come_back_when_the_table_is_full() -> None:
    content = np.random.default_rng(0).integers(0, 4, 40_000, dtype=np.uint8).tobytes()
    assert lzw.unpack(compressed(content, widest=9)) == content
    assert lzw.unpack(compressed(content, widest=16)) == content

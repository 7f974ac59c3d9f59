"""Large snapshots in a file: written in parts, and there only once all of them are."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import open_journal
from fedbandit.durable.journals.reading import journals_at, reading
from fedbandit.durable.journals.sqlite_pieces import PIECE_BYTES

RNG = np.random.default_rng(3)


def large(parts=3):
    return RNG.bytes((parts - 1) * PIECE_BYTES + 7)


def opened(folder, records=0):
    journal = open_journal(str(folder), "large")
    for number in range(records):
        journal.append(b"%d" % number)
    journal.sync()
    return journal


def laid_down(journal, snapshot, most=1000):
    journal.append(b"last")
    return sum(journal.lay_down(snapshot) for _ in range(most))


def pieces(folder):
    with closing(sqlite3.connect(folder / "large.db")) as file:
        return file.execute("SELECT count(*), count(DISTINCT series) FROM pieces").fetchone()


def changed(folder, statement):
    with closing(sqlite3.connect(folder / "large.db")) as file:
        file.execute(statement)
        file.commit()


def faults(folder):
    ((place, name),) = journals_at(str(folder), "large")
    with reading(place, name) as rows:
        return list(rows.faults())


def test_a_snapshot_in_parts_is_there_when_it_is_saved_and_when_the_file_is_opened_again(tmp_path):
    journal, snapshot = opened(tmp_path, records=2), large()
    assert laid_down(journal, snapshot) == 3
    assert journal.snapshot() is None
    journal.save(snapshot)
    assert journal.snapshot() == (3, snapshot)
    journal.close()
    assert pieces(tmp_path) == (3, 1)
    journal = opened(tmp_path)
    assert journal.snapshot() == (3, snapshot)
    journal.close()
    assert faults(tmp_path) == []


def test_a_small_snapshot_has_no_parts(tmp_path):
    journal = opened(tmp_path)
    assert laid_down(journal, bytes(PIECE_BYTES)) == 0
    journal.save(bytes(PIECE_BYTES))
    assert journal.snapshot() == (1, bytes(PIECE_BYTES))
    journal.close()
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        pieces(tmp_path)


def test_a_snapshot_takes_the_place_of_the_parts_of_the_one_before(tmp_path):
    journal = opened(tmp_path)
    for parts in (4, 3, 2):
        snapshot = large(parts)
        laid_down(journal, snapshot)
        journal.save(snapshot)
    journal.close()
    assert pieces(tmp_path) == (2, 1)
    journal = opened(tmp_path)
    journal.save(b"small")
    journal.close()
    assert pieces(tmp_path) == (0, 0)


@pytest.mark.parametrize("again", [True, False], ids=["saved whole later", "another in parts"])
def test_parts_whose_process_ended_are_as_if_they_had_never_been_written(tmp_path, again):
    journal, before, unfinished, after = opened(tmp_path), large(), large(), large()
    laid_down(journal, before)
    journal.save(before)
    assert laid_down(journal, unfinished, most=2) == 2
    journal.close()
    assert pieces(tmp_path) == (5, 2)
    journal = opened(tmp_path)
    assert journal.snapshot() == (1, before)
    if again:
        laid_down(journal, after)
    journal.save(after)
    assert journal.snapshot().data == after
    journal.close()
    assert pieces(tmp_path) == ((3, 1) if again else (0, 0))


def test_what_is_saved_while_another_snapshot_is_laid_down_is_what_counts(tmp_path):
    journal, snapshot = opened(tmp_path), large()
    laid_down(journal, snapshot, most=2)
    journal.save(b"other")
    assert journal.snapshot().data == b"other"
    laid_down(journal, snapshot)  # from its first part, since all of them have gone
    journal.save(snapshot)
    assert journal.snapshot().data == snapshot
    journal.close()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM pieces WHERE place = 2",
        "DELETE FROM pieces",
        "DROP TABLE pieces",
        "UPDATE pieces SET data = zeroblob(length(data)) WHERE place = 1",
        "UPDATE pieces SET data = 'text' WHERE place = 1",
        "UPDATE pieces SET series = 9 WHERE place = 3",
        "UPDATE pieces SET place = 7 WHERE place = 1",
        "UPDATE snapshots SET data = 9",
    ],
)
def test_a_snapshot_of_which_a_part_is_damaged_is_refused(tmp_path, damage):
    journal, snapshot = opened(tmp_path, records=2), large()
    laid_down(journal, snapshot)
    journal.save(snapshot)
    journal.close()
    changed(tmp_path, damage)
    with pytest.raises(InvalidInput, match=r"large\.db"):
        opened(tmp_path)


def test_the_file_does_not_grow_with_snapshots_that_come_and_go(tmp_path):
    journal, sizes = opened(tmp_path), []
    for _ in range(6):
        snapshot = large()
        laid_down(journal, snapshot)
        journal.save(snapshot)
        journal.tidy()
        sizes.append((tmp_path / "large.db").stat().st_size)
    assert sizes[-1] <= sizes[2]
    journal.close()

"""One thread waits for the disk while another adds records: what it waits for need not be up to the last of them."""

from __future__ import annotations

from queue import Queue
from threading import Thread

import pytest

from fedbandit.durable.journals.journal import open_journal


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    return str(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.mark.parametrize("saves", [False, True], ids=["syncs", "saves"])
def test_while_one_thread_waits_for_the_disk_another_adds_records(url, saves):
    journal = open_journal(url, f"two-threads-{saves}", keep_log=True)
    places, failed = Queue(), []

    def sync():
        try:
            while (place := places.get()) is not None:
                if saves:
                    journal.save(b"as of %d" % place, up_to=place)
                journal.sync(place)
        except Exception as error:  # noqa: BLE001
            failed.append(error)

    thread = Thread(target=sync)
    thread.start()
    for number in range(500):
        place = journal.append(b"%d" % number)
        if number % 3 == 0:
            places.put(place)
    places.put(None)
    thread.join()
    assert not failed
    journal.sync()
    assert [entry.data for entry in journal.records()] == [b"%d" % number for number in range(500)]
    assert journal.snapshot() == ((499, b"as of 499") if saves else None)
    journal.close()


def test_a_file_that_is_tidied_loses_nothing_and_its_log_is_moved_into_it(tmp_path):
    journal = open_journal(str(tmp_path), "tidy", keep_log=True)
    records = [bytes([number]) * 256 * 1024 for number in range(9)]
    untidy = []
    for record in records:
        journal.append(record)
        journal.sync()
        untidy.append(journal.is_untidy)
        if journal.is_untidy:
            journal.tidy()
    assert untidy == [False, False, False, True, False, False, False, True, False]
    assert (tmp_path / "tidy.db").stat().st_size > sum(map(len, records[:8]))
    journal.save(bytes(1024 * 1024))
    assert journal.is_untidy
    journal.close()
    journal = open_journal(str(tmp_path), "tidy", keep_log=True)
    assert [entry.data for entry in journal.records()] == records
    assert not journal.is_untidy
    journal.close()


@pytest.mark.parametrize("synced", [0, 3, 5])
def test_a_snapshot_as_of_an_earlier_record_leaves_those_after_it(url, synced):
    journal = open_journal(url, f"earlier-{synced}")
    for number in range(6):
        journal.append(b"%d" % number, keep=number == 1)
        if number + 1 == synced:
            journal.sync()
    journal.save(b"snapshot", up_to=4)
    journal.append(b"after")
    journal.close()
    journal = open_journal(url, f"earlier-{synced}")
    assert journal.snapshot() == (4, b"snapshot")
    assert list(journal.records(4)) == [(5, b"4"), (6, b"5"), (7, b"after")]
    assert list(journal.kept()) == [(2, b"1")]
    journal.close()

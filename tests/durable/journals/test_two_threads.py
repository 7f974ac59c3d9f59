"""One thread waits for the disk while another adds records."""

from __future__ import annotations

from queue import Queue
from threading import Thread

import pytest

from fedbandit.durable.journals.journal import open_journal


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    return str(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres_url")


def test_while_one_thread_syncs_another_adds_records(url):
    journal = open_journal(url, "two-threads", keep_log=True)
    places, failed = Queue(), []

    def sync():
        try:
            while (place := places.get()) is not None:
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
    journal.close()

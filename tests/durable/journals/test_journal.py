"""A journal in memory, which stands for a disk in tests and in simulations of faults."""

from fedbandit.durable.journals.journal import MemoryJournal


def test_it_counts_the_bytes_that_it_holds():
    journal = MemoryJournal()
    journal.append(b"one")
    journal.save(b"snapshot")
    journal.append(b"four")
    assert journal.size() == len(b"snapshot") + len(b"four")

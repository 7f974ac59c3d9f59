"""A mark lets go of its file."""

import pytest

from fedbandit.durable.journals.mark import Mark, read_mark


def test_a_mark_that_is_closed_keeps_what_it_says_and_can_say_no_more(tmp_path):
    mark = Mark(tmp_path / "demo.db-mark", journal=bytes(16))
    mark.set(synced=3, flushed=5)
    mark.close()
    with pytest.raises(ValueError, match="closed"):
        mark.set(synced=4, flushed=5)
    assert read_mark(tmp_path / "demo.db-mark").synced == 3

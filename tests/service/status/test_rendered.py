"""However many ask for a page, making it takes a small part of the time."""

from __future__ import annotations

import pytest

from fedbandit.service.status.rendered import Rendered


class Slow:
    """A page that takes some seconds of a clock of its own to make, and counts how often it was."""

    def __init__(self, seconds):
        self.now = 100.0
        self.times = 0
        self.seconds = seconds

    def make(self):
        self.times += 1
        self.now += self.seconds
        return f"page {self.times}".encode()


@pytest.mark.parametrize(("seconds", "kept"), [(0.0, 1.0), (0.01, 1.0), (0.5, 10.0)])
def test_a_page_is_kept_for_a_second_or_twenty_times_as_long_as_it_took(seconds, kept):
    slow = Slow(seconds)
    page = Rendered(slow.make, clock=lambda: slow.now)
    assert page() == b"page 1"
    slow.now += 0.99 * kept
    assert page() == b"page 1"
    slow.now += 0.02 * kept
    assert page() == b"page 2"


def test_what_fails_is_not_kept():
    def fail():
        raise ValueError("no page")

    page = Rendered(fail)
    for _ in range(2):
        with pytest.raises(ValueError, match="no page"):
            page()

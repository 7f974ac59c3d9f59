"""Whose turn it is: no site delays another by more than a turn, and what waits is bounded."""

from __future__ import annotations

from types import SimpleNamespace

from fedbandit.service.coordinator.fair_queue import MOST_WORDS, WORDS_SECONDS, FairQueue
from fedbandit.transport.nats.door import Arrival
from fedbandit.transport.nats.subjects import Subjects

DEMO = Subjects("demo")


def arrival(site, what, data=b""):
    subject = getattr(DEMO, what)(site)
    return Arrival(site, data, SimpleNamespace(subject=subject, reply="somewhere"), is_word=what != "up")


def queue_with(*arrivals, most_of_one=2):
    queue = FairQueue(most_of_one)
    for each in arrivals:
        queue.put(each)
    return queue


def test_a_site_that_sends_much_does_not_keep_another_from_the_next_group():
    queue = queue_with(*(arrival(0, "up", bytes([number])) for number in range(100)), arrival(1, "up", b"honest"))
    assert [each.data for each in queue.take(8)] == [b"\x00", b"\x01", b"honest"]
    assert [each.data for each in queue.take(8)] == [b"\x02", b"\x03"]


def test_sites_that_found_no_place_in_a_group_come_first_in_the_next():
    queue = queue_with(*(arrival(site, "up") for site in range(5) for _ in range(3)))
    assert [each.sender for each in queue.take(4)] == [0, 0, 1, 1]
    assert [each.sender for each in queue.take(4)] == [2, 2, 3, 3]
    assert [each.sender for each in queue.take(4)] == [4, 4, 0, 1]
    assert [each.sender for each in queue.take(4)] == [2, 3, 4]
    assert len(queue) == 0
    assert queue.take(4) == []


def test_a_group_is_as_large_as_it_may_be_and_no_larger():
    queue = queue_with(*(arrival(site, "up") for site in range(3) for _ in range(3)), most_of_one=3)
    assert [each.sender for each in queue.take(4)] == [0, 0, 0, 1]


def test_uploads_of_a_site_keep_their_order():
    queue = queue_with(*(arrival(0, "up", bytes([number])) for number in range(3)))
    assert [each.data for group in (queue.take(8), queue.take(8)) for each in group] == [b"\x00", b"\x01", b"\x02"]


def test_of_questions_and_reports_only_the_last_of_a_site_waits():
    words = [arrival(0, what, bytes([number])) for number in range(200) for what in ("ask", "report")]
    queue = queue_with(*words, arrival(1, "ask", b"other"))
    assert len(queue) == 3
    assert [each.data for each in queue.take(8)] == [bytes([199]), bytes([199]), b"other"]


def test_uploads_are_settled_at_once_and_words_now_and_then_read_or_not():
    first, again, upload = arrival(0, "ask", b"1"), arrival(0, "ask", b"2"), arrival(0, "up")
    queue = queue_with(first, again, upload)
    assert queue.to_settle(queue.take(8), elapsed=0.0) == [upload, first, again]
    late = arrival(0, "report")
    queue.put(late)
    group = queue.take(8)
    assert queue.to_settle(group, elapsed=WORDS_SECONDS / 2) == []
    assert 0.0 < queue.words_left(WORDS_SECONDS / 2) <= WORDS_SECONDS / 2
    assert queue.to_settle([], elapsed=WORDS_SECONDS) == [late]
    assert queue.words_left(99.0) is None


def test_a_question_that_was_not_read_yet_is_not_settled():
    waiting = arrival(1, "ask")
    queue = queue_with(arrival(0, "ask"), waiting)
    group = queue.take(1)
    assert queue.to_settle(group, elapsed=1.0) == group
    assert queue.to_settle(queue.take(1), elapsed=2.0) == [waiting]


def test_a_flood_of_words_is_settled_before_it_grows_without_end():
    queue = queue_with(*(arrival(0, "ask") for _ in range(MOST_WORDS)))
    queue.to_settle(queue.take(8), elapsed=1.0)
    for _ in range(MOST_WORDS + 1):
        queue.put(arrival(0, "ask"))
    assert len(queue.to_settle(queue.take(8), elapsed=1.0)) == MOST_WORDS + 1


def test_what_came_under_no_sites_subject_waits_like_the_uploads_of_one():
    stranger = Arrival(None, b"", SimpleNamespace(subject="fedbandit.demo.up.3.4", reply="somewhere"))
    queue = queue_with(stranger, arrival(0, "up"))
    assert [each.sender for each in queue.take(8)] == [None, 0]

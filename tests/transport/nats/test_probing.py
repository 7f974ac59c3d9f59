"""Streams that are tried now and then: one that fails twice in a row is made anew, as is one that is late."""

from __future__ import annotations

import asyncio

from fedbandit.transport.nats.door import Door
from fedbandit.transport.nats.probing import MUTE, Probing
from samples.hubs import SUBJECTS

DOOR = Door(SUBJECTS, 1, 100, print)
STREAMS = list(DOOR.probes)


class Tried:
    """Streams of which some do not store."""

    def __init__(self, replicas=1):
        self.replicas, self.failing, self.removed, self.is_whole = replicas, set(), [], True

    async def probe(self, subject, most_bytes, seconds):
        return "no room" if subject in {DOOR.probes[name] for name in self.failing} else ""

    async def remove(self, stream):
        self.removed += [stream] * self.is_whole
        return self.is_whole


def probe(probing, streams, failing=()):
    streams.failing = set(failing)
    return asyncio.run(probing.probe(streams, [DOOR]))


def test_a_stream_is_made_anew_when_it_fails_twice_in_a_row():
    probing, streams = Probing("nats://broker"), Tried()
    for failing, trouble, removed in [
        ([], "", []),
        (STREAMS[:1], "no room", []),
        (STREAMS[1:2], "no room", []),  # another one
        ([], "", []),
        (STREAMS[:1], "no room", []),
        (STREAMS[:1], "no room", STREAMS[:1]),
    ]:
        late = probe(probing, streams, failing)
        assert (probing.trouble, streams.removed, late) == (trouble, removed, [DOOR] * len(removed))


def test_a_stream_that_cannot_be_made_again_now_is_left_alone_until_it_can():
    probing, streams = Probing("nats://broker"), Tried(replicas=3)
    streams.is_whole = False
    assert [probe(probing, streams, STREAMS[:1]) for _ in range(2)] == [[]] * 2
    streams.is_whole = True
    for subject in DOOR.probes.values():
        probing.came(subject)
    assert probe(probing, streams, STREAMS[:1]) == [DOOR]
    assert streams.removed == STREAMS[:1]


def test_what_a_cluster_stored_and_does_not_deliver_is_noticed_when_it_is_tried_a_third_time():
    probing, streams = Probing("nats://broker"), Tried(replicas=3)
    assert [probe(probing, streams) for _ in range(MUTE + 1)] == [[]] * MUTE + [[DOOR]]
    for subject in DOOR.probes.values():
        probing.came(subject)
    assert probe(probing, streams) == []


def test_one_broker_that_is_late_is_left_alone():
    probing, streams = Probing("nats://broker"), Tried()
    assert [probe(probing, streams) for _ in range(MUTE + 3)] == [[]] * (MUTE + 3)

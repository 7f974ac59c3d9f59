"""What sites say when they have nothing to say: a question every so many seconds, and its answer.

A site asks whether there is anything that it lacks, and the coordinator acknowledges what it has. Simulations do not
count that. What TLS and NATS put around a frame is not counted here either.
"""

from __future__ import annotations

from fedbandit.core.seconds import DAY
from fedbandit.transport.link import RESEND
from fedbandit.wire.frame import BODIES, LONGER_ASKS, Kind
from fedbandit.wire.header import HEADER

MOST_OF_BUDGET = 0.1  # beyond it sites are told to ask more rarely
PAUSES = (RESEND, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 10_800.0, 21_600.0, 43_200.0, 86_400.0)


def bytes_of_question(has_features: bool) -> int:
    """Return the bytes of a question and its answer.

    >>> bytes_of_question(False), bytes_of_question(True)
    (94, 102)
    """
    question = LONGER_ASKS[0] if has_features else BODIES[Kind.ASK]
    return HEADER.size + question.size + HEADER.size + BODIES[Kind.ACKNOWLEDGEMENT].size


def idle_bytes_a_day(sites: int, every: float, has_features: bool) -> float:
    """Return what sites that ask every so many seconds send and are sent in a day.

    >>> idle_bytes_a_day(sites=12, every=30.0, has_features=True)
    3525120.0
    """
    return sites * bytes_of_question(has_features) * DAY / every


def pause_for(budget: float, sites: int, has_features: bool) -> float:
    """Return how many seconds sites should wait between questions, so that these take a tenth of a budget at most.

    >>> pause_for(1e8, sites=12, has_features=True), pause_for(1e6, sites=12, has_features=True)
    (30.0, 1800.0)
    """
    for every in PAUSES:
        if idle_bytes_a_day(sites, every, has_features) <= MOST_OF_BUDGET * budget:
            return every
    return PAUSES[-1]

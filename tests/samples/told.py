"""Telemetry of federations that never were: of what a coordinator would have told."""

from __future__ import annotations

import numpy as np

from fedbandit.durable.coordinator.outcome import Outcome, Verdict
from fedbandit.durable.coordinator.postbox import Leaving
from fedbandit.service.status.telemetry import Telemetry
from fedbandit.wire import encode, weigh
from fedbandit.wire.frame import Frame, Kind, with_numbers
from fedbandit.wire.report import Report
from fedbandit.wire.watched import Controlled, Watched
from samples.messages import FullDownload

ACCEPTED = Verdict(Outcome.ACCEPTED)
FULL = FullDownload(sparse=np.zeros(4), version=1, matrix=np.eye(5), dense=np.ones(5))
MODEL = encode(FULL)


def upload(client, sequence=1):
    return Frame(Kind.UPLOAD, client, 1, sequence, b"statistics").to_bytes()


def download(client=0, sequence=1, message=FULL):
    frame = Frame(Kind.DOWNLOAD, client, 1, sequence, encode(message))
    return Leaving(client, frame.to_bytes(), (1, sequence), weigh(message).scalars)


def ask(client, sequence=1):
    return with_numbers(Kind.ASK, client, 1, sequence, 1, 0, 0).to_bytes()


def report(decisions, rewards, reward_sum, arms, client=0, life=1, drift=None, watched=None):
    return Report(decisions, rewards, reward_sum, arms, drift or {}, watched).to_frame(client, life).to_bytes()


def watching(now=1000.0):
    """A busy federation whose first two sites report what they watch; the first of them has a control group."""
    told = busy(now=now, names=["north", "south", "east"])
    control = Controlled(0.1, 1800, 190, 0.0412, (0.0104, 0.0721))
    for site, found in enumerate(
        [Watched(2000, 1040.0, 980.0, 430.0, 2400, 96, control), Watched(1500, 750.0, 748.0, 300.0, 0, 0)]
    ):
        told.report(report(2400, 2000, 980.0, {"red": 2400}, site, 2, watched=found), now, sender=site)
    return told


def busy(name="clinics", clients=3, now=1000.0, seconds=60, names=()):
    """A federation all of whose sites exchange something every second; all but the last report."""
    told = Telemetry(name, "async-linucb", clients, now - seconds, names=names)
    for second in range(1, seconds + 1):
        at = now - seconds + second
        for site in range(clients):
            told.received(upload(site, second), ACCEPTED, at, sender=site, scalars=8)
            told.sent(download(site, second), at)
            told.received(ask(site, second), ACCEPTED, at, sender=site)
            if site < clients - 1:
                arms = {"red": second, "<b>blue</b>": second}
                told.report(report(2 * second, second, 0.5 * second, arms, site), at, sender=site)
    return told

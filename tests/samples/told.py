"""Telemetry of federations that never were: of what a coordinator would have told."""

from __future__ import annotations

import numpy as np

from fedbandit.durable.outcome import Outcome, Verdict
from fedbandit.service.status.telemetry import Telemetry
from fedbandit.wire import encode
from fedbandit.wire.frame import Frame, Kind, with_numbers
from fedbandit.wire.report import Report
from samples.messages import FullDownload

ACCEPTED = Verdict(Outcome.ACCEPTED)
MODEL = encode(FullDownload(sparse=np.zeros(4), version=1, matrix=np.eye(5), dense=np.ones(5)))


def upload(client, sequence=1):
    return Frame(Kind.UPLOAD, client, 1, sequence, b"statistics").to_bytes()


def download(client, sequence=1):
    return Frame(Kind.DOWNLOAD, client, 1, sequence, MODEL).to_bytes()


def ask(client, sequence=1):
    return with_numbers(Kind.ASK, client, 1, sequence, 1, 0, 0).to_bytes()


def report(decisions, rewards, reward_sum, arms, client=0, life=1, drift=None):
    return Report(decisions, rewards, reward_sum, arms, drift or {}).to_frame(client, life).to_bytes()


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

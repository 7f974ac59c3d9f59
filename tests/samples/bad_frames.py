"""Frames that a coordinator must not take in, and the one that it must."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np

from fedbandit.algorithms.linear.pooled_linucb import RawObservation
from fedbandit.algorithms.linear.shared.messages import Hello, Snapshot, Statistics
from fedbandit.core.algorithm import Setting
from fedbandit.core.bounds import Bounds
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.protocol.charter import Charter
from fedbandit.wire import encode
from fedbandit.wire.frame import LARGEST_NUMBER, Frame, Kind, with_numbers
from fedbandit.wire.header import LARGEST_UPLOAD

SITES, DIMENSION = 3, 4
LIMITS = Limits(
    Bounds(context=1.0, reward=1.0), observations_per_second=10.0, observations_ahead=50.0, uploads_ahead=100, epochs=3
)


def charter():
    setting = Setting(SITES, 2, DIMENSION, 100)
    return Charter.named("async-linucb", setting, upload_threshold=1, download_threshold=1)


def statistics(observations=2, gram=None, moment=None):
    """What two observations of the first and second unit vector give, with something changed."""
    default = np.diag([1.0, 1.0, 0.0, 0.0])
    return Statistics(
        (default if gram is None else np.asarray(gram, dtype=np.float64))[np.newaxis],
        (np.array([0.5, -0.5, 0.0, 0.0]) if moment is None else np.asarray(moment, dtype=np.float64))[np.newaxis],
        np.array([observations]),
    )


def upload(message=None, client=1, epoch=7, sequence=1, body=None):
    return Frame(Kind.UPLOAD, client, epoch, sequence, encode(message or statistics()) if body is None else body)


def introduction(client=1, of=None):
    """The question of a site that knows the charter, without which none of its uploads is taken in."""
    return with_numbers(Kind.ASK, client, 0, 0, LARGEST_NUMBER, 0, 1, 0, (of or charter()).fingerprint)


GOOD = upload()
BODY = GOOD.body
AT_SHAPE = 2 + 2 + len("linear.statistics") + 3  # where the gram's dimensions stand
AT_VALUES = AT_SHAPE + 8


def patched(at, data, body=BODY):
    return body[:at] + data + body[at + len(data) :]


def tilted(size=1.0):
    gram = np.diag([1.0, 1.0, 0.0, 0.0])
    gram[0, 1] = gram[1, 0] = size
    return gram


# name: (frame or bytes, what the reason says)
BAD = {
    "nothing": (b"", "frame cut short"),
    "one byte": (b"\x00", "frame cut short"),
    "half a header": (GOOD.to_bytes()[:15], "frame cut short"),
    "unknown kind of frame": (b"\x63" + GOOD.to_bytes()[1:], "unknown kind of frame 99"),
    "a download from a site": (replace(GOOD, kind=Kind.DOWNLOAD), "a site may not send a frame of kind download"),
    "an acknowledgement from a site": (
        with_numbers(Kind.ACKNOWLEDGEMENT, 1, 7, 1, 1, 0),
        "a site may not send a frame of kind acknowledgement",
    ),
    "a refusal from a site": (Frame(Kind.REFUSAL, 1, 7, 1, b"\x01no"), "a site may not send a frame of kind refusal"),
    "a closing word from a site": (
        with_numbers(Kind.CLOSED, 1, 7, 1, 8, 1, 1),
        "a site may not send a frame of kind closed",
    ),
    "a site that is not on the roster": (replace(GOOD, client=3), "site 3 is not on the roster"),
    "a site with an absurd number": (replace(GOOD, client=2**32 - 1), "is not on the roster"),
    "in the name of another site": (replace(GOOD, client=2), "site 1 sent a frame in the name of site 2"),
    "number 0": (replace(GOOD, sequence=0), "0 is not a sequence number"),
    "a number beyond all others": (replace(GOOD, sequence=LARGEST_UPLOAD), "ahead of 1, which has not come"),
    "data after a question of another site": (replace(GOOD, asked=7), "two sites use number 1"),
    "data after a question that has not come": (replace(GOOD, sequence=2, asked=7), "upload 1 of site 1 must come bef"),
    "a number far ahead": (replace(GOOD, sequence=101), "upload 101 is 100 ahead of 1, which has not come"),
    "no message": (replace(GOOD, body=b""), "message cut short"),
    "not a message": (replace(GOOD, body=b"XX" + BODY[2:]), "do not begin with FB"),
    "another schema version": (replace(GOOD, body=patched(2, b"\x02")), "schema version 2"),
    "an unknown kind of message": (replace(GOOD, body=patched(4, b"linear.statistixx")), "unknown kind of message"),
    "a kind of another algorithm": (
        upload(RawObservation(np.zeros((1, 4)), np.zeros(1))),
        "'linear.raw' are not taken in here, only linear.hello, linear.statistics",
    ),
    "a download as a message": (
        upload(Snapshot(np.eye(4), np.zeros(4), 1)),
        "'linear.snapshot' are not taken in here",
    ),
    "a message cut short": (replace(GOOD, body=BODY[:-5]), "message cut short"),
    "a message with a tail": (
        upload(body=encode(Hello()) + b"!"),
        "message has 1 bytes after its end",
    ),
    "a message larger than any": (replace(GOOD, body=BODY + bytes(100_000)), "the largest that is taken in has"),
    "a name of a kind that runs past the end": (replace(GOOD, body=b"FB\x01\xff" + BODY[4:40]), "message cut short"),
    "an unknown form of array": (replace(GOOD, body=patched(AT_SHAPE - 3, b"\x09")), "unknown form"),
    "an unknown type of numbers": (replace(GOOD, body=patched(AT_SHAPE - 2, b"\x09")), "unknown form, type"),
    "too many dimensions": (replace(GOOD, body=patched(AT_SHAPE - 1, b"\xff")), "number of dimensions"),
    "a matrix that is not square": (replace(GOOD, body=patched(AT_SHAPE, struct.pack("<II", 4, 3))), "must be square"),
    "an array that claims to be huge": (
        replace(GOOD, body=patched(AT_SHAPE, struct.pack("<II", 50_000, 50_000))),
        "the limit is 16",
    ),
    "an empty array of great width": (
        replace(GOOD, body=patched(AT_SHAPE, struct.pack("<II", 0, 2**32 - 1))),
        "the limit is 16",
    ),
    "another dimension": (
        upload(Statistics(np.eye(3)[np.newaxis], np.zeros((1, 3)), np.array([3]))),
        "gram of 'linear.statistics' has shape (3, 3), not (4, 4)",
    ),
    "a moment of another dimension": (
        upload(statistics(moment=[0.5, 0.5])),
        "moment of 'linear.statistics' has shape (2,), not (4,)",
    ),
    "not a number": (
        replace(GOOD, body=patched(AT_VALUES, struct.pack("<d", np.nan))),
        "'gram' has values that are not finite",
    ),
    "infinity": (
        replace(GOOD, body=patched(AT_VALUES, struct.pack("<d", -np.inf))),
        "'gram' has values that are not finite",
    ),
    "a number beyond all sums": (upload(statistics(gram=1e200 * np.eye(4))), "gram has a number of size 1e+200"),
    "less than no observations": (upload(statistics(observations=-1)), "observations is -1, but it counts something"),
    "sums of no observations": (upload(statistics(observations=0)), "sums that are not zero, of no observations"),
    "a negative diagonal": (
        upload(statistics(gram=np.diag([-1.0, 1, 0, 0]))),
        "the gram matrix is not positive semi-definite",
    ),
    "an indefinite matrix": (upload(statistics(gram=tilted(1.5))), "the gram matrix is not positive semi-definite"),
    "a row without a diagonal": (
        upload(statistics(gram=np.eye(4)[[0, 1, 3, 2]])),
        "the gram matrix is not positive semi-definite",
    ),
    "more than n observations can give": (
        upload(statistics(gram=2.1 * np.diag([1.0, 0, 0, 0]), moment=np.zeros(4))),
        "the trace of the gram matrix is 2.1, more than 2 observations of length 1 can have",
    ),
    "rewards beyond the bound": (
        upload(statistics(gram=np.diag([2.0, 0, 0, 0]), moment=[2.5, 0, 0, 0])),
        "the length of the moment is 2.5, more than 2 observations",
    ),
    "a moment that does not fit the matrix": (
        upload(statistics(moment=[0.0, 0.0, 0.0, 1.0])),
        "the moment does not fit the gram matrix",
    ),
    "more observations than the rate allows": (
        upload(statistics(observations=61, gram=np.diag([1.0, 1, 0, 0]))),
        "site 1 reports 61 new observations: with its rate limit of 10 a second it can have made 10 by now",
    ),
    "an absurd number of observations": (upload(statistics(observations=2**62)), "it is from 0 to 2^40"),
    "a question with a tail": (
        Frame(Kind.ASK, 1, 0, 0, with_numbers(Kind.ASK, 1, 0, 0, 7, 0, 1).body + b"!"),
        "ask has a body of 37 bytes, not 36",
    ),
    "a question in an epoch beyond all others": (
        with_numbers(Kind.ASK, 1, 0, 0, LARGEST_NUMBER + 1, 0, 1),
        f"site 1 asks in epoch {LARGEST_NUMBER + 1}",
    ),
    "a question with acknowledgements beyond all numbers": (
        with_numbers(Kind.ASK, 1, 0, 0, 7, LARGEST_NUMBER + 1, 1),
        f"site 1 asks in epoch 7 with {LARGEST_NUMBER + 1} acknowledgements",
    ),
    "a question cut short": (Frame(Kind.ASK, 1, 0, 0, b"\x00"), "ask has a body of 1 bytes, not 36"),
    "a void with a body": (Frame(Kind.VOID, 1, 7, 1, b"x"), "void has a body of 1 bytes, not 0"),
    "a void far ahead": (Frame(Kind.VOID, 1, 7, 5000), "which has not come"),
    "a closing at 0": (with_numbers(Kind.CLOSE, 1, 7, 0, 8), "0 is not a sequence number"),
    "a closing without an heir": (Frame(Kind.CLOSE, 1, 7, 3), "close has a body of 0 bytes, not 8"),
}

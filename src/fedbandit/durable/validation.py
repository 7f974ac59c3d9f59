"""What a coordinator checks before an upload touches any state. Whatever fails is refused with a reason.

Who (the roster, the credential), which (numbers, epochs), what (kind, schema version, shapes, finite and not absurd
numbers, sums that are possible) and how much (a site's rate of observations).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.core.interfaces import Server
from fedbandit.core.messages import Message, Upload
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.schema import Schema
from fedbandit.protocol.seen import Seen
from fedbandit.wire.frame import LARGEST_NUMBER, Frame, Kind

FROM_SITES = (Kind.UPLOAD, Kind.ASK, Kind.VOID, Kind.CLOSE)


class NotYet(ProtocolError):
    """The upload may be right, but not now: the site is to send it again later."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a coordinator takes in from a site, and what not.

    >>> Limits(observations_per_second=-1)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: observations_per_second must be greater than 0, not -1: give a positive number
    """

    bounds: Bounds = Bounds()
    magnitude: float = 1e100  # no number of any message is farther from zero
    observations_per_second: float = math.inf  # of a site, over its whole life
    observations_ahead: float = 10_000.0  # and so many more at once
    uploads_ahead: int = 4096  # beyond the first that is missing
    epochs: int = 1000  # lives of one site

    def __post_init__(self) -> None:
        """Check that every limit is a positive number."""
        for name in ("magnitude", "observations_per_second", "observations_ahead", "uploads_ahead", "epochs"):
            value = getattr(self, name)
            if not value > 0:
                raise InvalidInput(f"{name} must be greater than 0, not {value}: give a positive number")


class Validation:
    """The checks of one federation."""

    def __init__(self, side: Server, setting: Setting, limits: Limits) -> None:
        """Take the server side, whose declarations say what it can receive, the setting and the limits."""
        self.limits = limits
        self.clients = setting.clients
        self.schema = Schema.of(side, Upload, setting).require_shapes()

    def check_header(self, frame: Frame, sender: int | None) -> None:
        """Refuse a frame that goes the wrong way, comes from a stranger, or names another site than its sender."""
        if frame.kind not in FROM_SITES:
            raise ProtocolError(f"a site may not send a frame of kind {frame.name}")
        if frame.client >= self.clients:
            raise ProtocolError(f"site {frame.client} is not on the roster, which has 0 to {self.clients - 1}")
        if sender is not None and frame.client != sender:
            raise ProtocolError(f"site {sender} sent a frame in the name of site {frame.client}")
        if frame.sequence > LARGEST_NUMBER or (frame.sequence == 0 and frame.kind is not Kind.ASK):
            raise ProtocolError(f"{frame.sequence} is not a sequence number: they count from 1")

    def check_ahead(self, frame: Frame, seen: Seen) -> None:
        """Refuse a number that is far ahead of the first that is missing."""
        first = seen.look(frame.client, frame.epoch).up_to + 1
        if frame.sequence >= first + self.limits.uploads_ahead:
            raise NotYet(
                f"upload {frame.sequence} is {frame.sequence - first} ahead of {first}, which has not come: "
                "send that first"
            )

    def check_epoch(self, client: int, epoch: int, seen: Seen) -> None:
        """Refuse the beginning of one epoch too many."""
        if (client, epoch) not in seen.windows:
            lives = sum(each == client for each, _ in seen.windows)
            if lives >= self.limits.epochs:
                raise ProtocolError(f"site {client} begins epoch {epoch} after {lives} others: that is too many")

    def open(self, frame: Frame) -> Envelope:
        """Return the upload of a frame if it is one that this federation can take in; else raise."""
        message: Message = self.schema.open(frame.body)
        assert isinstance(message, Upload)  # the schema knows no other
        for name in message.shapes():
            value = getattr(message, name)
            most = float(np.abs(value).max()) if value.size else 0.0
            if most > self.limits.magnitude:
                raise ProtocolError(f"{name} has a number of size {most:g}: the limit is {self.limits.magnitude:g}")
        message.check(self.limits.bounds)
        return Envelope.of(frame, message)

    def check_rate(self, client: int, before: int, observations: int, seconds: float) -> None:
        """Refuse more observations than a site can have made in the time since it joined."""
        limits = self.limits
        if math.isinf(limits.observations_per_second):
            return
        most = limits.observations_ahead + limits.observations_per_second * max(0.0, seconds)
        if before + observations > most:
            raise NotYet(
                f"site {client} reports {observations} observations after {before}: with its rate limit of "
                f"{limits.observations_per_second:g} a second it can have made {most:g} by now"
            )


def observations_in(message: Message) -> int:
    """Return how many observations an upload speaks of, where it says so; else each upload counts as one.

    >>> from fedbandit.algorithms.linear.shared.family import Hello
    >>> observations_in(Hello())
    1
    """
    told = getattr(message, "observations", None)
    return 1 if told is None else int(told.sum())

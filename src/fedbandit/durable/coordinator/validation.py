"""What a coordinator checks before an upload touches any state. Whatever fails is refused with a reason.

Who (the roster, the credential), which (numbers, epochs), what (kind, schema version, shapes, finite and not absurd
numbers, sums that are possible) and how much (a site's rate of observations). What is possible, the message types say
(`Upload.check`) and the server side (`Server.check`), and after an upload no sum and no download may be other than
finite.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import are_finite, are_within
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.core.interfaces import Server
from fedbandit.core.messages import Message, Upload
from fedbandit.durable.coordinator.pace import Pace
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.forms import Forms
from fedbandit.protocol.schema import Schema
from fedbandit.protocol.seen import Seen
from fedbandit.wire.frame import LARGEST_NUMBER, Frame, Kind

AHEAD = 1  # epochs of forgetting that a site may be ahead of the coordinator
FROM_SITES = (Kind.UPLOAD, Kind.ASK, Kind.VOID, Kind.CLOSE, Kind.JOIN)


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
    observations_per_second: float = math.inf  # of a site: see `durable.coordinator.pace`
    observations_ahead: float | None = None  # that it may tell of at once; None: what it makes in a minute
    uploads_ahead: int = 4096  # beyond the first that is missing
    epochs: int = 1000  # that one site may begin at once
    seconds_per_epoch: float = 60.0  # after which it may begin one more

    def __post_init__(self) -> None:
        """Check that every limit is a positive number."""
        for name in (
            "magnitude", "observations_per_second", "observations_ahead",
            "uploads_ahead", "epochs", "seconds_per_epoch",
        ):  # fmt: skip
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InvalidInput(f"{name} must be greater than 0, not {value}: give a positive number")


class Validation:
    """The checks of one federation."""

    def __init__(self, side: Server, setting: Setting, limits: Limits, forms: Forms | None = None) -> None:
        """Take the server side, whose declarations say what it can receive, the setting, the limits and the forms."""
        self.limits = limits
        self.side = side
        self.bounds = side.bounds(limits.bounds)
        self.pace = Pace(limits.observations_per_second, limits.observations_ahead)
        self.clients = setting.clients
        self.smallest_upload = 1  # observations that an upload rests on, where it rests on any
        self.schema = Schema.of(side, Upload, setting).require_shapes()
        self._forms = forms
        self._excess: tuple[Envelope | None, float] = None, 0.0  # of the upload that was asked about last

    @property
    def most_bytes(self) -> int:
        """Return how many bytes an upload can have, of the present form or of one before it."""
        return max(self.schema.most_bytes, self._forms.most_bytes(Upload) if self._forms else 0)

    def check_header(self, frame: Frame, sender: int | None) -> None:
        """Refuse a frame that goes the wrong way, comes from a stranger, or names another site than its sender."""
        if frame.kind not in FROM_SITES:
            raise ProtocolError(f"a site may not send a frame of kind {frame.name}")
        if frame.client >= self.clients:
            raise ProtocolError(f"site {frame.client} is not on the roster, which has 0 to {self.clients - 1}")
        if sender is not None and frame.client != sender:
            raise ProtocolError(f"site {sender} sent a frame in the name of site {frame.client}")
        if frame.epoch > LARGEST_NUMBER:
            raise ProtocolError(f"{frame.epoch} is not an epoch: they are below {LARGEST_NUMBER}")
        if frame.sequence > LARGEST_NUMBER or (frame.sequence == 0 and frame.kind not in (Kind.ASK, Kind.JOIN)):
            raise ProtocolError(f"{frame.sequence} is not a sequence number: they count from 1")

    def check_ahead(self, frame: Frame, seen: Seen, known: Iterable[int]) -> None:
        """Refuse a number that is far ahead of the first that is missing, and one too many that came early.

        Those that came early are remembered one by one, so they are counted over all epochs of a site that are known.
        """
        most, client = self.limits.uploads_ahead, frame.client
        first = seen.look(client, frame.epoch).up_to + 1
        if frame.sequence == first:
            return
        early = sum(len(seen.look(client, epoch).early) for epoch in known)
        if frame.sequence >= first + most or early >= most:
            raise NotYet(
                f"upload {frame.sequence} is {frame.sequence - first} ahead of {first}, which has not come: "
                "send that first"
            )

    def _check_clock(self, frame: Frame, epoch: int) -> None:
        """Refuse, for now, what comes from later than the next epoch: a wrong clock would fade what all have told."""
        if (frame.clock is not None) != (self.side.discount < 1.0):
            told = "no epoch" if frame.clock is None else f"the epoch {frame.clock}"
            raise ProtocolError(f"site {frame.client} tells {told} of its sums: give it the federation's discount")
        if frame.clock is not None and frame.clock > epoch + AHEAD:
            raise NotYet(
                f"site {frame.client} is in epoch {frame.clock}, more than {AHEAD} ahead of the coordinator's {epoch}: "
                "set the clock that is wrong"
            )

    def open_alike(self, bodies: Sequence[bytes]) -> Upload | None:
        """Return the uploads of some bodies of the present form, if they are quick to open and no number is absurd."""
        message = self.schema.open_alike(bodies)
        if message is None or not all(
            are_within(getattr(message, name), self.limits.magnitude) for name in message.shapes()
        ):
            return None
        return message

    def open(self, frame: Frame, epoch: int) -> Envelope:
        """Return the upload of a frame if it is one that this federation can take in, in this epoch; else raise."""
        self._check_clock(frame, epoch)
        message = self._opened(frame)
        assert isinstance(message, Upload)  # the schema knows no other
        for name in message.shapes():
            value = getattr(message, name)
            if not are_within(value, self.limits.magnitude):
                most = float(np.abs(value).max())
                raise ProtocolError(f"{name} has a number of size {most:g}: the limit is {self.limits.magnitude:g}")
        message.check(self.bounds)
        observations = message.rests_on(0)
        if 0 < observations < self.smallest_upload:
            raise ProtocolError(f"{observations} observations, smallest_upload is {self.smallest_upload}")
        return Envelope.of(frame, message)

    def _opened(self, frame: Frame) -> Message:
        """Return the message of a frame, if it is one of the form that it names.

        One that does not fit the earlier form that it names is put off: its site may not have heard which form it has.
        """
        if frame.form == (self._forms.present if self._forms else 0):
            return self.schema.open(frame.body)
        try:
            return self._schema_of(frame).open(frame.body)
        except NotYet:
            raise
        except ProtocolError as error:
            raise NotYet(str(error)) from None

    def _schema_of(self, frame: Frame) -> Schema:
        """Return what an upload of the form that a frame names looks like; one that is not known yet is put off."""
        if self._forms is None or not self._forms.knows(frame.form):
            raise NotYet(
                f"site {frame.client} sends sums with features of which this coordinator knows nothing: make the last "
                "change of the features again, if the journal was restored from a backup"
            )
        return self._forms.schema(frame.form, Upload)

    def check_now(self, upload: Envelope, state: Any, observations: int, is_next: bool) -> None:
        """Refuse what no honest site can send after all that it has sent before, `observations` in all.

        An upload that is not the next of its site may make sense once those before it have come.
        """
        try:
            self.side.check(state, int(upload.clients[0]), upload.message, self.bounds, observations)
        except ProtocolError as error:
            raise _unless_early(error, is_next) from None

    def excess_of(self, upload: Envelope) -> float:
        """Return by how many observations an upload is beyond those that it names; 0 where nothing is rounded."""
        if not self.side.rounding:
            return 0.0
        if self._excess[0] is not upload:  # it is asked for when an upload is judged, and when it is taken in
            assert isinstance(upload.message, Upload)
            self._excess = upload, upload.message.excess(self.bounds)
        return self._excess[1]

    def explains(self, excess: float, before: float, observations: int) -> bool:
        """Tell whether rounding explains that a site is beyond so many observations by `excess`, after `before`."""
        return not excess or excess + before <= self.side.rounding * observations

    def check_excess(self, upload: Envelope, observations: int, before: float, is_next: bool) -> None:
        """Refuse what is beyond its observations by more than rounding explains.

        With it the site has told of so many `observations` in all, and was beyond them by `before` without it.
        """
        excess = self.excess_of(upload)
        if not self.explains(excess, before, observations):
            most = self.side.rounding * observations
            error = ProtocolError(
                f"its sums are {excess:g} observations beyond those that it names, after {before:g} in uploads before: "
                f"rounding explains {most:g} in all"
            )
            raise _unless_early(error, is_next)

    def check_outcome(self, state: Any, downloads: Iterable[Envelope]) -> None:
        """Refuse what leaves sums, or would make the server send anything, that is not finite."""
        for total in self.side.sums(state):
            if not are_finite(total):
                raise ProtocolError("sums over it would not be finite")
        for download in downloads:
            for name in download.message.shapes():
                if not are_finite(getattr(download.message, name)):
                    raise ProtocolError(f"{name} of the {download.message.kind!r} that follows would not be finite")

    def check_rate(self, client: int, observations: int, now: float, is_new: bool) -> None:
        """Refuse, for now, more observations than a site can have made by now."""
        if math.isinf(self.pace.per_second) or not observations:
            return
        most = self.pace.allowance(client, now, is_new)
        if observations > most:
            raise NotYet(
                f"site {client} reports {observations} new observations: with its rate limit of "
                f"{self.pace.per_second:g} a second it can have made {most:g} by now"
            )

    def charge(self, client: int, observations: int, now: float) -> None:
        """Note that so many observations of a site were taken in."""
        if observations and not math.isinf(self.pace.per_second):
            self.pace.take(client, observations, now)


def observations_in(upload: Envelope, before: int) -> int:
    """Return how many observations an upload speaks of that its site's uploads before, of so many, did not."""
    message = upload.message
    assert isinstance(message, Upload)
    return message.new_observations(before)


def _unless_early(error: ProtocolError, is_next: bool) -> ProtocolError:
    if is_next:
        return error
    return NotYet(f"{error}; but uploads before it have not come: send them first")

"""What a site has sealed and the coordinator has not acknowledged: it is sent until it is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fedbandit.protocol.revisions import Former
from fedbandit.wire import decode
from fedbandit.wire.digests import MOST_ASKED, fold, mark_of
from fedbandit.wire.frame import Frame, Kind, Standing
from fedbandit.wire.question import Question

KEPT_REFUSED = 100  # uploads, of those that were refused for good: the last
KEPT_REFUSED_BYTES = 4 * 1024 * 1024  # and fewer where they are large, but always one
MOST_WAITING = 32  # uploads of a site that a broker keeps, so that as many that were acknowledged are kept here


@dataclass
class Refused:
    """An upload that the coordinator will never take in, with its reason."""

    epoch: int
    sequence: int
    reason: str
    body: bytes


@dataclass
class Outbox:
    """Sealed frames by (epoch, sequence), in the order of sealing.

    >>> outbox = Outbox()
    >>> for number in (1, 2, 3):
    ...     outbox.put(Frame(Kind.UPLOAD, client=0, epoch=7, sequence=number))
    >>> outbox.acknowledge(epoch=7, up_to=2), outbox.acknowledge(epoch=8, up_to=9), len(outbox.frames)
    (True, False, 1)
    """

    frames: dict[tuple[int, int], bytes] = field(default_factory=dict)
    settled: dict[int, int] = field(default_factory=dict)  # by epoch: all up to here were acknowledged
    refused: list[Refused] = field(default_factory=list)
    new: list[tuple[int, int]] = field(default_factory=list)  # not yet taken
    forgotten: int = 0  # refused uploads that are kept no longer
    asked: list[int] = field(default_factory=list)  # marks of the questions since the last upload with data
    asked_in: int = 0  # the epoch of those

    def __post_init__(self) -> None:
        """Begin to remember what was acknowledged last; that is in memory alone."""
        self._acknowledged: dict[tuple[int, int], bytes] = {}

    def seal(self, frame: Frame, *, is_question: bool) -> None:
        """Keep an upload until it is acknowledged; one with data says which questions came just before it."""
        self.put(self._marked(frame, is_question=is_question))

    def _marked(self, frame: Frame, *, is_question: bool) -> Frame:
        asked = self.asked if self.asked_in == frame.epoch else []
        if is_question:
            self.asked, self.asked_in = [*asked[1 - MOST_ASKED :], mark_of(frame.body)], frame.epoch
            return frame
        self.asked, self.asked_in = [], 0
        return replace(frame, asked=fold(asked))  # 0 where its questions are of another epoch

    def put(self, frame: Frame) -> None:
        """Keep a frame until it is acknowledged."""
        self.frames[frame.epoch, frame.sequence] = frame.to_bytes()
        self.new.append((frame.epoch, frame.sequence))

    def acknowledge(self, epoch: int, up_to: int) -> bool:
        """Drop what the coordinator has; return False if there was nothing new in that."""
        if up_to <= self.settled.get(epoch, 0):
            return False
        done = [key for key in self.frames if key[0] == epoch and key[1] <= up_to]
        for key in done:
            self._acknowledged[key] = self.frames.pop(key)
        for key in list(self._acknowledged)[:-MOST_WAITING]:
            del self._acknowledged[key]
        if done:
            self.settled[epoch] = up_to
        return bool(done)

    def unsent(self, epoch: int) -> dict[tuple[int, int], bytes]:
        """Return the frames of an epoch that were put and not taken since."""
        return {key: self.frames[key] for key in self.new if key[0] == epoch and key in self.frames}

    def refuse(self, refusal: Frame) -> bool:
        """Put an upload aside that is refused for good, and say that nothing will come under its number.

        Where another process has a copy of the store, what it sent under that number may have been acknowledged just
        before, and have been taken for this upload.
        """
        key = refusal.epoch, refusal.sequence
        is_settled = key not in self.frames and refusal.standing is Standing.NUMBER_TAKEN
        data = (self._acknowledged if is_settled else self.frames).get(key)
        frame = None if data is None else Frame.from_bytes(data)
        if frame is None or frame.kind is Kind.VOID or not refusal.is_about(frame.body):
            return False
        self.refused.append(Refused(*key, refusal.verdict[1], frame.body))
        self._forget_refused()
        if is_settled:
            del self._acknowledged[key]
        else:
            self.put(Frame(Kind.VOID, frame.client, *key))
        return True

    def _forget_refused(self) -> None:
        """Keep the last of what was refused, so that a store does not grow for ever."""
        kept = room = 0
        for each in reversed(self.refused):
            room += len(each.body) + len(each.reason)
            if kept == KEPT_REFUSED or (kept and room > KEPT_REFUSED_BYTES):
                break
            kept += 1
        self.forgotten += len(self.refused) - kept
        self.refused = self.refused[-kept:]

    def all_kept(self, client: int) -> list[tuple[bytes, str]]:
        """Return all frames that are still here, and how they stand: refused and acknowledged ones are the last."""
        refused = [Frame(Kind.UPLOAD, client, each.epoch, each.sequence, each.body) for each in self.refused]
        return [
            *((each.to_bytes(), "refused") for each in refused),
            *((data, "acknowledged") for data in self._acknowledged.values()),
            *((data, "waiting") for data in self.frames.values()),
        ]

    def send_again(self, numbers: set[tuple[int, int]]) -> None:
        """Let those of some frames that are still here count as not yet taken."""
        self.new += [key for key in self.frames if key in numbers and key not in self.new]

    def drop(self, epoch: int, first: int) -> None:
        """Forget the frames of an epoch from a number on, which were never sent."""
        self.frames = {key: data for key, data in self.frames.items() if not _is_held(key, (epoch, first))}

    def move(self, epoch: int, first: int, heir: int, *, asks: bool) -> None:
        """Give the frames of an epoch from a number on, which were never sent, numbers from 1 on in another epoch.

        Where sites ask, their data tell of the questions there.
        """
        moved = {key: (heir, key[1] - first + 1) for key in self.frames if _is_held(key, (epoch, first))}
        for key, data in list(self.frames.items()):
            if key in moved:
                frame = replace(Frame.from_bytes(data), epoch=heir, sequence=moved[key][1], is_old=False)
                if asks and frame.kind is Kind.UPLOAD:
                    frame = self._marked(frame, is_question=decode(frame.body).is_signal())
                data = frame.to_bytes()
            del self.frames[key]
            self.frames[moved.get(key, key)] = data  # in the order in which they were sealed
        self.new = [moved.get(key, key) for key in self.new]

    def put_into_form(self, form: int) -> None:
        """Let all uploads name the form that they have, which was not known when they were sealed: nobody took any."""
        for key, data in self.frames.items():
            frame = Frame.from_bytes(data)
            if frame.kind is Kind.UPLOAD:
                self.frames[key] = replace(frame, form=form).to_bytes()

    def take_new(self, held: tuple[int, int] | None = None) -> list[bytes]:
        """Return what was put and not taken since, but for what is held back: an epoch from a number on."""
        if not self.new:
            return []
        taken = [key for key in self.new if not _is_held(key, held)]
        self.new = [key for key in self.new if _is_held(key, held)]
        return [self.frames[key] for key in taken if key in self.frames]

    def question(self, epoch: int, life: int, told: Former) -> Question:
        """Return what a life of the site tells of an epoch of uploads when it asks, beside the charter that it has."""
        settled, waiting = self.settled.get(epoch, 0), len(self.frames)
        return Question(epoch, settled, life, waiting, told.fingerprint, told.features, told.revision)

    def unacknowledged(self, held: tuple[int, int] | None = None) -> list[bytes]:
        """Return everything that is to be sent, but for what is held back."""
        return [data for key, data in self.frames.items() if not _is_held(key, held)]


def _is_held(key: tuple[int, int], held: tuple[int, int] | None) -> bool:
    return held is not None and key[0] == held[0] and key[1] >= held[1]

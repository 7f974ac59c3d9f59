"""Bugs that a hostile site can use, or that make an operator's mistake silent. Each is a node with one thing wrong."""

from __future__ import annotations

from dataclasses import replace

from fedbandit.core.bounds import Bounds
from fedbandit.durable.coordinator.introductions import NumberTaken
from fedbandit.durable.coordinator.outcome import NEWS, REPEATED
from fedbandit.durable.coordinator.pace import Pace
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.site.client import DurableClient
from fedbandit.protocol.envelope import Envelope
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind, Standing
from simulation.planted import Planted
from simulation.poison import ForgetsWhatWasPutAside, NeverCareful

LONG = 1000  # steps, after which a walk counts as one that never ends


class Hangs(BaseException):
    """Stands for a loop without end: no node can catch it."""


class HeirsWalkedForEver(DurableServer):
    """A site may name as heir of an epoch the epoch itself, or an earlier one."""

    def _close(self, frame, now):
        epoch = frame.epoch
        for _ in range(LONG):
            closure = self.accounts.closed.get((frame.client, epoch))
            if closure is None:
                break
            epoch = closure.heir
        else:
            raise Hangs("the heirs of an epoch are walked for ever")
        return NEWS if frame.numbers[0] <= frame.epoch else super()._close(frame, now)


class RestoredCoordinatorGoesOnNumbering(DurableServer):
    def _ask(self, frame, now):
        return super()._ask(frame, now)._replace(new_epoch=0)


class EpochsOfDownloadsNotDrawn(DurableServer):
    """Whoever goes on from a backup numbers its downloads from there on, and after a loss begins the next epoch."""

    def __init__(self, *arguments, **how):
        super().__init__(*arguments, **how | {"random_below": lambda _: 0})


class AnyEpochBelieved(DurableServer):
    """A site may raise the coordinator's epoch as far and as often as it likes."""

    def _ask(self, frame, now):
        self.node.epoch, epoch = max(self.node.epoch, frame.epoch), self.node.epoch
        try:
            judged = super()._ask(frame, now)
        finally:
            self.node.epoch = epoch
        return judged._replace(new_epoch=frame.epoch + 1) if frame.epoch > epoch else judged


class LossNotTold(DurableServer):
    """A coordinator whose journal lacks what it acknowledged says nothing."""

    def _ask(self, frame, now):
        judged = super()._ask(frame, now)
        self.concerns.clear("uploads-missing", frame.client)
        return judged


class EpochsOfWholeSeconds(DurableClient):
    """An epoch is a time and nothing else, and a second has 64 steps of a schedule."""

    def __init__(self, charter, number, *, fresh, **how):
        super().__init__(charter, number, fresh=fresh >> 36 << 36, **how)


class TwoSitesNotTold(DurableServer):
    """That two sites have one number is known, and nobody hears of it."""

    def receive(self, data, now, sender=None):
        verdict = super().receive(data, now, sender)
        for site in range(self.charter.setting.clients):
            self.concerns.clear("two-sites-one-number", site)
        return verdict


class OtherContentsTakenForARepetition(TwoSitesNotTold):
    """Whatever comes under an old number is acknowledged."""

    def _upload(self, frame, now):
        try:
            return super()._upload(frame, now)
        except NumberTaken:
            self._touched.setdefault((frame.client, frame.epoch), 0)
            return REPEATED


class QuestionsOfCopiesForgotten(DurableServer):
    """A question whose number is taken is refused, and nobody asks what its site holds."""

    def _check_questions(self, frame, now):
        pass


class CopiesKeepWhatBothHold(DurableClient):
    """A site that finds out that it has a copy sends all that it has learnt since it was opened."""

    def _open(self, life, event, position):
        super()._open(life, event, position)
        self.opened_at = position

    def _note_doubled(self, life, position):
        super()._note_doubled(life, position)
        saved = self.journal.snapshot()
        if saved is None or saved.position < self.opened_at:
            self._unchecked_at = self._restored_at = self.opened_at


class FirstNumberOfALostLifeTaken(DurableServer):
    """`>= closure.first` as `>`."""

    def _upload(self, frame, now):
        closure = self.accounts.closed.get((frame.client, frame.epoch))
        if closure is None or frame.sequence != closure.first:
            return super()._upload(frame, now)
        del self.accounts.closed[frame.client, frame.epoch]
        try:
            return super()._upload(frame, now)
        finally:
            self.accounts.closed[frame.client, frame.epoch] = closure


class RefusedForNowIsForGood(DurableClient):
    def receive(self, data):
        frame = Frame.from_bytes(data)
        if frame.kind is Kind.REFUSAL and frame.standing in (Standing.FOR_NOW, Standing.ASK_FIRST):
            data = replace(frame, body=bytes([Standing.FOR_GOOD]) + frame.body[1:]).to_bytes()
        super().receive(data)


class AnotherCharterTakenIn(DurableServer):
    def __init__(self, *arguments, **how):
        super().__init__(*arguments, **how)
        self.introductions.require = lambda frame, **how: None


class AnotherCharterNotTold(DurableServer):
    def _ask(self, frame, now):
        judged = super()._ask(frame, now)
        self.concerns.clear("another-charter", frame.client)
        return judged


class NothingIsChecked(DurableServer):
    """What can be read is taken in: not a number, infinity, any size."""

    def __init__(self, *arguments, **how):
        super().__init__(*arguments, **how)
        self.validation.open = lambda frame, _: Envelope.of(frame, decode(frame.body))


class LimitsNotChecked(DurableServer):
    """Whatever `limits` say, an upload may claim anything."""

    def __init__(self, charter, journal, *, limits, **how):
        super().__init__(charter, journal, limits=replace(limits, bounds=Bounds()), **how)


class NoRateLimit(DurableServer):
    def __init__(self, *arguments, **how):
        super().__init__(*arguments, **how)
        self.validation.check_rate = lambda *arguments, **how: None


class _WallClock(Pace):
    def allowance(self, site, now, is_new):
        super().allowance(site, max(now, self._credits[site].at) if site in self._credits else now, is_new)
        return self._credits[site].left + self.per_second * (now - self._credits[site].at)


class ClockSetBackStopsSites(DurableServer):
    """What a site may send is counted from the latest time that the clock ever showed."""

    def __init__(self, *arguments, **how):
        super().__init__(*arguments, **how)
        self.validation.pace = _WallClock(self.validation.pace.per_second, self.validation.pace.ahead)


class AnySenderBelieved(DurableServer):
    """A frame is taken for that of the site that it names, whoever sent it."""

    def receive(self, data, now, sender=None):
        return super().receive(data, now, None)


class NumbersFarAheadTaken(DurableServer):
    def __init__(self, *arguments, **how):
        super().__init__(*arguments, **how)
        self.validation.check_ahead = lambda *arguments, **how: None


PLANTED_TROUBLES = [
    Planted(HeirsWalkedForEver, seed=5),
    Planted(RestoredCoordinatorGoesOnNumbering, seed=5),
    Planted(EpochsOfDownloadsNotDrawn, federation=4, seed=624),
    Planted(AnyEpochBelieved, federation=1, seed=7),
    Planted(LossNotTold),
    Planted(EpochsOfWholeSeconds, seed=1),
    Planted(TwoSitesNotTold, seed=6),
    Planted(OtherContentsTakenForARepetition, seed=6),
    Planted(QuestionsOfCopiesForgotten, federation=6, seed=139),
    Planted(CopiesKeepWhatBothHold, seed=31),
    Planted(FirstNumberOfALostLifeTaken, federation=1, seed=269),
    Planted(RefusedForNowIsForGood),
    Planted(AnotherCharterTakenIn, seed=5),
    Planted(AnotherCharterNotTold, seed=5),
    Planted(NothingIsChecked, seed=8),
    Planted(LimitsNotChecked, seed=29),
    Planted(NoRateLimit, seed=7),
    Planted(ClockSetBackStopsSites, seed=16),
    Planted(AnySenderBelieved, seed=7),
    Planted(NumbersFarAheadTaken, seed=2),
]
PLANTED_POISONS = [Planted(NeverCareful), Planted(ForgetsWhatWasPutAside, seed=1)]

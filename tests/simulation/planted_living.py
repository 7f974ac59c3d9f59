"""Bugs of a federation whose sites come and go, and are forgotten. Runs in which all of that happens must see them."""

from __future__ import annotations

from dataclasses import replace

from fedbandit.durable.coordinator.erasure import Erasure
from fedbandit.durable.coordinator.roster import Roster, Standing
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.lease import JournalLost
from simulation.planted import Planted


class TokenGoodForAnyKey(Roster):
    """A token that was used is good for whoever shows it."""

    def join(self, token, key, **how):
        used = next((each.key for each in self.members.values() if each.token == token), "")
        return super().join(token, used or key, **how)


class JoinedBeforeItIsJournalled(Roster):
    """A site is told that it has joined when that is written, and not synced."""

    def _write(self, member):
        if member.standing is not Standing.JOINED:
            return super()._write(member)
        sync, self.journal.sync = self.journal.sync, lambda: None
        try:
            return super()._write(member)
        finally:
            self.journal.sync = sync


class RevocationNotJournalled(Roster):
    """Whoever was revoked is let in again when the coordinator has been started again."""

    def _end(self, member, standing, now):
        if standing is not Standing.REVOKED:
            return super()._end(member, standing, now)
        revoked = replace(member, standing=standing, since=now, token="")
        self._take_in(revoked)
        return revoked


class RevokedSiteGoesOn(Roster):
    """What a revoked site had sent before is taken in when it comes."""

    def is_revoked(self, number):
        return False


class RemovedSitesLateUploadLeftAside(Roster):
    """What a site had sent before it left is not taken in when it comes."""

    def is_revoked(self, number):
        return number in self.gone


class RemovedSiteIsWaitedFor(Roster):
    def has_none_of(self, awaited):
        return False


class NumberGivenAgain(Roster):
    """The number of a site that has left is given to another."""

    def _free(self):
        return set(range(self.clients)) - self.present


class ReturnsUnderAnotherNumber(Roster):
    def invite(self, name, token, **how):
        known = self.members.pop(name, None)
        if known is not None and known.standing in (Standing.JOINED, Standing.INVITED):
            self.members[name] = known
        return super().invite(name, token, **how)


class UnfencedRoster(Roster):
    """A coordinator that was replaced goes on signing keys."""

    def _write(self, member):
        try:
            return super()._write(member)
        except JournalLost:
            self._take_in(member)
            return member


class ForgottenDataBackAfterRecovery(Erasure):
    """That a site is forgotten is written down; the next start goes on from a snapshot with its sums in it."""

    def write(self, journal):
        for record in self.added:
            journal.append(record)
        journal.sync()


class ForgottenFramesLeftInTheLog(Erasure):
    def write(self, journal):
        replace(self, replaced=()).write(journal)


class ForgottenInTwoSteps(Erasure):
    """The power may go between the word that a site is forgotten and the deed: the next call finds it done."""

    def write(self, journal):
        for record in self.added:
            journal.append(record)
        journal.sync()
        journal.save(self.snapshot, replaced=self.replaced)


class ForgottenSiteTakenInAgain(DurableServer):
    """What a site had sent before it was forgotten is taken in when it comes."""

    def _judge(self, frame, now):
        barred, self.accounts.forgotten = self.accounts.forgotten, set()
        try:
            return super()._judge(frame, now)
        finally:
            self.accounts.forgotten = barred


class SuccessorBeginsWithTheFirstCharter(DurableServer):
    """Revisions since the last snapshot are not heeded by a coordinator that takes over."""

    is_open = False

    def _take_up(self, revision):
        if self.is_open:
            super()._take_up(revision)

    def revise(self, made, retuned, now):
        self.is_open = True
        super().revise(made, retuned, now)


PLANTED_LIVING = [
    Planted(TokenGoodForAnyKey),
    Planted(JoinedBeforeItIsJournalled, seed=2),
    Planted(RevocationNotJournalled),
    Planted(RevokedSiteGoesOn, seed=41),
    Planted(RemovedSitesLateUploadLeftAside, seed=6),
    Planted(RemovedSiteIsWaitedFor, federation=3),
    Planted(NumberGivenAgain, seed=5),
    Planted(ReturnsUnderAnotherNumber, seed=5),
    Planted(UnfencedRoster),
    Planted(ForgottenDataBackAfterRecovery, seed=7),
    Planted(ForgottenFramesLeftInTheLog, seed=7),
    Planted(ForgottenInTwoSteps, seed=13),
    Planted(ForgottenSiteTakenInAgain, seed=13),
    Planted(SuccessorBeginsWithTheFirstCharter, seed=1),
]

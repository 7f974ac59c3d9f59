"""The server side of a Flower app, without Flower: rounds of turns, and what follows from them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import FedbanditError
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.durable.journals.journal import Journal
from fedbandit.flower.plan import Plan
from fedbandit.flower.site import NO_TURN, Request
from fedbandit.wire.frame import Kind, read_header

log = logging.getLogger("fedbandit.flower")

CALLS = (Kind.DOWNLOAD, Kind.RENEWED)  # what a site may answer, so that it is carried at once; all else can wait


class SitesSilent(FedbanditError, RuntimeError):
    """Sites that a round cannot go on without have not answered."""


class Carrier(Protocol):
    """What brings requests to sites and their answers back."""

    def exchange(self, requests: dict[int, Request], seconds: float | None) -> dict[int, list[bytes]]:
        """Return the frames of each site that answers, of those that do within so many seconds, or ever."""


class Rounds:
    """Lets the sites of a federation act round after round, and carries frames until all is quiet."""

    def __init__(self, plan: Plan, journal: Journal, carrier: Carrier, clock: Callable[[], float] = time.time) -> None:
        """Go on from the journal; an empty one begins a federation."""
        self._plan, self._carrier, self._clock = plan, carrier, clock
        now = clock()
        limits = Limits(Bounds(**plan.charter.limits))
        self.server = DurableServer(plan.charter, journal, epoch=int(now), now=now, limits=limits)
        self._frames: dict[int, list[bytes]] = {site: [] for site in range(plan.charter.setting.clients)}
        self.left_out = 0  # turns that sites missed

    def play(self) -> None:
        """Play all rounds."""
        sites = list(self._frames)
        turns = [[site] for site in sites] if self._plan.takes_turns else [sites]
        for round_ in range(self._plan.rounds):
            for acting in turns:
                self._exchange(acting, round_)
                self._settle(round_)

    def _settle(self, round_: int) -> None:
        """Carry what calls for an answer until nothing does; close a round that waits for silent sites."""
        while True:
            silent: set[int] = set()
            while called := [site for site, frames in self._frames.items() if site not in silent and _calls(frames)]:
                silent |= self._exchange(called, NO_TURN)
            awaited = self.server.awaited().tolist()
            if not awaited:
                return
            if self._plan.deadline is None:
                raise SitesSilent(
                    f"round {round_ + 1} waits for sites {_listed(awaited)}, which have begun anew or whose uploads "
                    "were refused: see the warnings above, or give fedbandit.deadline to go on without them"
                )
            if not self.server.deadline(self._clock()).size:
                raise SitesSilent(
                    f"round {round_ + 1} cannot be closed without sites {_listed(awaited)}: start them, and run again"
                )
            self._post()

    def _exchange(self, sites: Sequence[int], round_: int) -> set[int]:
        """Bring sites what waits for them, take in what they answer, and return who did not."""
        requests = {site: Request(list(self._frames[site]), round_) for site in sites}
        answers = self._carrier.exchange(requests, self._plan.deadline)
        silent = set(sites) - answers.keys()
        if silent and self._plan.deadline is None:
            raise SitesSilent(
                f"sites {_listed(sorted(silent))} have failed: see the warnings above, or give fedbandit.deadline to "
                "go on without them"
            )
        if round_ != NO_TURN:
            self.left_out += len(silent)
        for site in sorted(answers):
            self._frames[site] = self._frames[site][len(requests[site].frames) :]
        for site, frames in sorted(answers.items()):
            for frame in frames:
                verdict = self.server.receive(frame, self._clock(), site)
                if verdict.outcome in (Outcome.REFUSED, Outcome.NOT_YET):
                    log.warning("an upload of site %d is refused: %s", site, verdict.reason)
                self._post()
        self.server.maintain()
        return silent

    def _post(self) -> None:
        for site, frame in self.server.commit():
            self._frames[site].append(frame)


def _calls(frames: list[bytes]) -> bool:
    return any(read_header(frame).kind in CALLS for frame in frames)


def _listed(sites: Sequence[int]) -> str:
    return ", ".join(map(str, sites))

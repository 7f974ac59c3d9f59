"""What a coordinator tells of one federation: who was heard of when, who has which version, how much has travelled.

Pure memory: no socket, no clock (`now` is an input, in seconds), bounded for each site, and whatever the bytes are,
nothing is raised. A coordinator makes one for each federation and calls:

    received(frame, verdict, now, sender=..., scalars=...)    after each frame of a site, with what became of it
    accepted(sites and bytes, now, scalars=...)               for many uploads of which all were accepted, instead
    report(frame, now, sender=...) -> Verdict                 instead of the node, for frames of kind REPORT
    sent(leaving, now)                                        for each frame that leaves to a site
    left_out(sites, now)                                      when a deadline has closed a round
    watch.look(observations, now)                             now and then; so are journal_bytes, peers, revision set

Counts go on from what an earlier start has kept: see `status.kept`. `snapshot(now)` is plain data.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from fedbandit.core.arrays import Ints
from fedbandit.core.errors import ProtocolError
from fedbandit.durable.coordinator.concerns import Concerns
from fedbandit.durable.coordinator.outcome import Outcome, Verdict
from fedbandit.durable.coordinator.postbox import Leaving
from fedbandit.service.status.history import SPANS, WIDTHS, Bucket
from fedbandit.service.status.reasons import Refusals
from fedbandit.service.status.reports import Reports
from fedbandit.service.status.severity import is_grave
from fedbandit.service.status.site_record import STATES, SiteRecord, Version
from fedbandit.service.status.traffic import Traffic
from fedbandit.service.status.watch import Watch
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.header import header_if_any
from fedbandit.wire.report import LARGEST_REWARD

SILENT_AFTER = 90.0  # seconds: three times as long as a site waits by default between two full exchanges
RECENT = 20  # closed rounds that are kept
MOST_CONCERNS = 50  # that are listed
_ACCEPTED = Verdict(Outcome.ACCEPTED)
COUNTED = (
    "uploads", "downloads", "repeated", "refused", "left_out", "scalars_up", "scalars_down", "bytes_up", "bytes_down",
)  # fmt: skip


class Telemetry:
    """All that is told of one federation.

    >>> telemetry = Telemetry("clinics", "async-linucb", clients=2, now=100.0)
    >>> upload = Frame(Kind.UPLOAD, client=1, epoch=1, sequence=1, body=b"statistics").to_bytes()
    >>> telemetry.received(upload, Verdict(Outcome.ACCEPTED), now=105.0, scalars=8)
    >>> now = telemetry.snapshot(now=107.0)
    >>> now["totals"]["uploads"], [site["state"] for site in now["sites"]]
    (1, ['current', 'new'])
    """

    def __init__(
        self,
        name: str,
        algorithm: str,
        clients: int,
        now: float,
        *,
        names: Sequence[str] = (),
        largest_reward: float = LARGEST_REWARD,
        concerns: Concerns | None = None,
    ) -> None:
        """Begin with nothing heard of.

        `names` are those of the sites, in order, if they have any; no reward is farther from zero than
        `largest_reward`; `concerns` are those that others raise too.
        """
        self.name = name
        self.algorithm = algorithm
        self.began = now
        self.journal_bytes = self.revision = 0  # how often what was agreed on has changed
        self.peers: Ints | None = None
        self.sites = [SiteRecord(each, names[each] if each < len(names) else "") for each in range(clients)]
        self.refusals = Refusals()
        self.reports = Reports(largest_reward)
        self.watch = Watch(Concerns() if concerns is None else concerns)
        self.version: Version = (0, 0)
        self.strangers = SiteRecord(-1, "not on the roster")
        self.cut: deque[dict[str, Any]] = deque(maxlen=RECENT)
        self.traffic = Traffic()

    def received(
        self, data: bytes, verdict: Verdict, now: float, *,
        sender: int | None = None, uploads: int = 1, scalars: int = 0,
    ) -> None:  # fmt: skip
        """Count a frame from `sender`, for whom its credential stands, if known; a signal is none of the `uploads`."""
        header, outcome = header_if_any(data), verdict.outcome
        if sender is None and header is not None and outcome in (Outcome.ACCEPTED, Outcome.REPEATED):
            sender = header.client  # what a frame that was refused says of itself is not believed
        site = self._site(sender)
        site.bytes_up += len(data)
        amounts: Bucket = {"bytes_up": len(data)}
        if outcome in (Outcome.REFUSED, Outcome.NOT_YET):
            site.refused += 1
            self.refusals.add(site.number, verdict.reason, now)
        if site is not self.strangers:
            site.contact(now)
            if outcome is Outcome.REPEATED:
                site.repeated += 1
            elif header is not None and header.kind is Kind.UPLOAD:
                self.watch.uploaded(site.number, verdict, now)
                if outcome is Outcome.ACCEPTED:
                    site.uploads += uploads
                    site.scalars_up += scalars
                    amounts |= {"uploads": uploads, "scalars": scalars}
            elif header is not None and header.kind is Kind.ASK and outcome is Outcome.ACCEPTED:
                self._asked(data, site, now)
        self.traffic.add(now, site.number, amounts)

    def accepted(self, uploads: Sequence[tuple[int, int]], now: float, *, scalars: int) -> None:
        """Count uploads that were all accepted, by site and bytes, each with so many scalars."""
        for number, size in uploads:
            self.sites[number].accept(size, scalars, now)
            self.watch.uploaded(number, _ACCEPTED, now)
        self.traffic.add_all(now, uploads, scalars)

    def report(self, data: bytes, now: float, *, sender: int | None = None) -> Verdict:
        """Take in a site's report of aggregate counters; one that is not right changes nothing but the refusals."""
        try:
            frame = Frame.from_bytes(data)
            if frame.client >= len(self.sites) or sender not in (None, frame.client):
                raise ProtocolError(f"a report in the name of site {frame.client} is not this sender's to make")
            verdict = Verdict(Outcome.ACCEPTED if self.reports.take_in(frame, now) else Outcome.REPEATED)
            self.watch.reported(frame.client, self.reports.new_drift, now)
        except ProtocolError as error:
            verdict = Verdict(Outcome.REFUSED, str(error))
        self.received(data, verdict, now, sender=sender)
        return verdict

    def sent(self, leaving: Leaving, now: float) -> None:
        """Count a frame to a site."""
        number, data, version, scalars = leaving
        site = self._site(number)
        site.bytes_down += len(data)
        amounts: Bucket = {"bytes_down": len(data)}
        if version is not None:
            self.version = max(self.version, version)
            site.downloads += scalars > 0  # a signal is no message
            site.scalars_down += scalars
            site.was_sent(version, now)
            amounts |= {"downloads": scalars > 0, "scalars": scalars}
        self.traffic.add(now, site.number, amounts)

    def left_out(self, sites: Iterable[int], now: float) -> None:
        """Remember that a deadline has closed a round without these sites."""
        silent = [int(each) for each in sites]
        for each in silent:
            self._site(each).left_out += 1
        if silent:
            self.cut.append({"at": now, "left_out": silent})

    def totals(self) -> dict[str, int]:
        """Return the counts over all sites, and of whoever is not one."""
        every = [*self.sites, self.strangers]
        counted = {name: sum(getattr(site, name) for site in every) for name in COUNTED}
        return {"messages": counted["uploads"] + counted["downloads"], **counted, "reports": self.reports.count}

    def states(self, now: float) -> dict[str, int]:
        """Return how many sites are in which state."""
        counted = Counter(self._states(now))
        return {state: counted[state] for state in STATES}

    def problem(self) -> str:
        """Return why the federation cannot be served, or nothing."""
        return "; ".join(each.text for each in self.watch.concerns if is_grave(each))

    def snapshot(self, now: float, span: int = SPANS[0], most_sites: int | None = None) -> dict[str, Any]:
        """Return all of it as plain data, with what happened over the last `span` seconds (one of SPANS).

        Of the sites at most so many are listed, and first those that need somebody's attention.
        """
        states = self._states(now)
        listed = sorted(self.sites, key=lambda site: (STATES.index(states[site.number]), site.number))
        concerns = sorted(self.watch.concerns, key=is_grave, reverse=True)
        return {
            "name": self.name,
            "algorithm": self.algorithm,
            "began": self.began,
            "now": now,
            "silent_after": SILENT_AFTER,
            "clients": len(self.sites),
            "states": self.states(now),
            "reporting": len(self.reports.sites),
            "version": self.version[1],
            "revision": self.revision,
            "journal_bytes": self.journal_bytes,
            "totals": self.totals(),
            "concerns_open": len(concerns),
            "concerns": [
                {"kind": each.kind, "text": each.text, "since": each.since, "site": each.site, "grave": is_grave(each)}
                for each in concerns[:MOST_CONCERNS]
            ],
            "refusals": self.refusals.snapshot(),
            "rounds_cut": list(self.cut),
            "span": span,
            "width": WIDTHS[span],
            "traffic": self.traffic.all.buckets(now, span),
            "arms": dict(self.reports.chosen.most_common()),
            "arms_over_time": self.reports.arms.buckets(now, span),
            "rewards_over_time": self.reports.rewards.buckets(now, span),
            "sites": [self._told(site, states[site.number], now, span) for site in listed[:most_sites]],
        }

    def told(self, number: int, now: float, span: int) -> dict[str, Any]:
        """Return what the snapshot says of one site."""
        return self._told(self.sites[number], self._states(now)[number], now, span)

    def _told(self, site: SiteRecord, state: str, now: float, span: int) -> dict[str, Any]:
        reported = self.reports.sites.get(site.number)
        return {
            **site.snapshot(now),
            "state": state,
            "observations": self.watch.observations.get(site.number, 0),
            "share": self.watch.share(site.number),
            "backlog": self.watch.backlog(site.number),
            "peers": None if self.peers is None else int(self.peers[site.number]),
            "reported": None if reported is None else reported.snapshot(now, span),
        }

    def _states(self, now: float) -> list[str]:
        """Return how each site is: one of which somebody should know something is never said to be well."""
        troubled = {each.site for each in self.watch.concerns}
        heard = [site.state(now, SILENT_AFTER) for site in self.sites]
        return ["trouble" if each in troubled and state != "gone" else state for each, state in enumerate(heard)]

    def _asked(self, data: bytes, site: SiteRecord, now: float) -> None:
        """Take in what a site tells of itself when it asks."""
        with suppress(ProtocolError):
            frame = Frame.from_bytes(data)
            site.asked(frame)
            if not frame.is_old:  # sites of 0.1.0 do not tell their backlog
                self.watch.waiting(site.number, frame.question.waiting, now)

    def _site(self, number: int | None) -> SiteRecord:
        return self.sites[number] if number is not None and 0 <= number < len(self.sites) else self.strangers

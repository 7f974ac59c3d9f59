"""What a coordinator tells of one federation: who was heard of when, who has which version, how much has travelled.

Pure memory: no socket, no clock (`now` is an input, in seconds), bounded for each site. A coordinator makes one for
each federation and calls:

    received(frame, verdict, now, sender=..., scalars=...)    after each frame of a site, with what became of it
    report(frame, now, sender=...) -> Verdict                 instead of the node, for frames of kind REPORT
    sent(frame, now)                                          for each frame that leaves to a site
    left_out(sites, now)                                      when a deadline has closed a round
    journal_bytes = n                                         now and then

All counts are since the object was made, that is since the coordinator was started. `snapshot(now)` is plain data.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import Any

from fedbandit.core.errors import ProtocolError
from fedbandit.durable.outcome import Outcome, Verdict
from fedbandit.service.status.history import SPANS, WIDTHS, History
from fedbandit.service.status.reasons import LONGEST, kind_of
from fedbandit.service.status.site_record import STATES, Reported, SiteRecord, Version
from fedbandit.wire import decode, weigh
from fedbandit.wire.frame import HEADER, Frame, Kind, read_header
from fedbandit.wire.report import MOST_ARMS, OTHERS, Report

SILENT_AFTER = 90.0  # seconds: three times as long as a site waits by default between two full exchanges
MOST_DRAWN = 12  # reporting sites with a history of their own: of more, lines in one chart cannot be told apart
RECENT = 20  # closed rounds that are kept
MOST_REASONS = 50  # kinds of refusals that are told apart
OTHER_REASONS = "other reasons"
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
        silent_after: float = SILENT_AFTER,
    ) -> None:
        """Begin with nothing heard of; `names` are those of the sites, in order, if they have any."""
        self.name = name
        self.algorithm = algorithm
        self.began = now
        self.silent_after = silent_after
        self.journal_bytes = 0
        self.sites = [SiteRecord(each, names[each] if each < len(names) else "") for each in range(clients)]
        self.refusals: Counter[str] = Counter()
        self.reports = 0
        self.version: Version = (0, 0)
        self._strangers = SiteRecord(-1, "not on the roster")
        self._last_refusals: dict[str, dict[str, Any]] = {}  # of each kind
        self._cut: deque[dict[str, Any]] = deque(maxlen=RECENT)
        self._traffic = History()
        self._arms = History()
        self._rewards = History()  # over all sites that report them
        self._chosen: Counter[str] = Counter()
        self._scalars_of: dict[bytes, int] = {}  # by kind of message

    def received(
        self, data: bytes, verdict: Verdict, now: float, *, sender: int | None = None, scalars: int = 0
    ) -> None:
        """Count a frame from a site; `sender` is whom the connection's credential stands for, where that is known."""
        site = self._sender(data, verdict, sender)
        site.bytes_up += len(data)
        self._traffic.add(now, "bytes_up", len(data))
        if verdict.outcome in (Outcome.REFUSED, Outcome.NOT_YET):
            self._refused(site, verdict.reason, now)
        if site is self._strangers:
            return
        site.contact(now)
        if verdict.outcome is Outcome.REPEATED:
            site.repeated += 1
            return
        if verdict.outcome is not Outcome.ACCEPTED:
            return
        header = read_header(data)
        if header.kind is Kind.UPLOAD:
            site.uploads += 1
            site.scalars_up += scalars
            self._traffic.add(now, "uploads")
            self._traffic.add(now, "scalars", scalars)
        elif header.kind is Kind.ASK:
            site.confirms((header.epoch, header.sequence))

    def report(self, data: bytes, now: float, *, sender: int | None = None) -> Verdict:
        """Take in a site's report of aggregate counters; one that is not right changes nothing but the refusals."""
        try:
            frame = Frame.from_bytes(data)
            if frame.client >= len(self.sites) or sender not in (None, frame.client):
                raise ProtocolError(f"a report in the name of site {frame.client} is not this sender's to make")
            verdict = self._take_in(frame, Report.from_frame(frame), now)
        except ProtocolError as error:
            verdict = Verdict(Outcome.REFUSED, str(error))
        self.received(data, verdict, now, sender=sender)
        return verdict

    def sent(self, data: bytes, now: float) -> None:
        """Count a frame to a site."""
        kind, client, epoch, sequence, _ = read_header(data)
        site = self.sites[client]
        site.bytes_down += len(data)
        self._traffic.add(now, "bytes_down", len(data))
        if kind == Kind.DOWNLOAD:
            version = (epoch, sequence)
            scalars = self._scalars(data[HEADER.size :])
            self.version = max(self.version, version)
            site.downloads += 1
            site.scalars_down += scalars
            site.was_sent(version, now)
            self._traffic.add(now, "downloads")
            self._traffic.add(now, "scalars", scalars)

    def left_out(self, sites: Iterable[int], now: float) -> None:
        """Remember that a deadline has closed a round without these sites."""
        silent = [int(each) for each in sites]
        for each in silent:
            self.sites[each].left_out += 1
        if silent:
            self._cut.append({"at": now, "left_out": silent})

    def totals(self) -> dict[str, int]:
        """Return the counts over all sites, and of whoever is not one."""
        every = [*self.sites, self._strangers]
        counted = {name: sum(getattr(site, name) for site in every) for name in COUNTED}
        return {"messages": counted["uploads"] + counted["downloads"], **counted, "reports": self.reports}

    def states(self, now: float) -> dict[str, int]:
        """Return how many sites are in which state."""
        counted = Counter(site.state(now, self.silent_after) for site in self.sites)
        return {state: counted[state] for state in STATES}

    def snapshot(self, now: float, span: int = SPANS[0], most_sites: int | None = None) -> dict[str, Any]:
        """Return all of it as plain data, with what happened over the last `span` seconds (one of SPANS).

        Of the sites at most so many are listed, and first those that need somebody's attention.
        """
        listed = sorted(self.sites, key=lambda site: (STATES.index(site.state(now, self.silent_after)), site.number))
        return {
            "name": self.name,
            "algorithm": self.algorithm,
            "began": self.began,
            "now": now,
            "silent_after": self.silent_after,
            "clients": len(self.sites),
            "states": self.states(now),
            "reporting": sum(site.reported is not None for site in self.sites),
            "version": self.version[1],
            "journal_bytes": self.journal_bytes,
            "totals": self.totals(),
            "refusals": [{"count": n, **self._last_refusals[kind]} for kind, n in self.refusals.most_common()],
            "rounds_cut": list(self._cut),
            "span": span,
            "width": WIDTHS[span],
            "traffic": self._traffic.buckets(now, span),
            "arms": dict(self._chosen.most_common()),
            "arms_over_time": self._arms.buckets(now, span),
            "rewards_over_time": self._rewards.buckets(now, span),
            "sites": [site.snapshot(now, span, self.silent_after) for site in listed[:most_sites]],
        }

    def _scalars(self, body: bytes) -> int:
        """Return the numbers in a message: its shapes are declared, so one of a kind is weighed for all of them."""
        kind = body[4 : 4 + body[3]]
        if kind not in self._scalars_of:
            self._scalars_of[kind] = weigh(decode(body), 1).scalars
        return self._scalars_of[kind]

    def _sender(self, data: bytes, verdict: Verdict, sender: int | None) -> SiteRecord:
        """Return whose frame it is; what a frame says of itself is not believed if it was refused."""
        if sender is None and verdict.outcome in (Outcome.ACCEPTED, Outcome.REPEATED):
            sender = read_header(data).client
        return self.sites[sender] if sender is not None and 0 <= sender < len(self.sites) else self._strangers

    def _refused(self, site: SiteRecord, reason: str, now: float) -> None:
        site.refused += 1
        kind = kind_of(reason)
        if kind not in self.refusals and len(self.refusals) >= MOST_REASONS:
            kind = OTHER_REASONS
        self.refusals[kind] += 1
        self._last_refusals[kind] = {"at": now, "site": site.number, "reason": reason[:LONGEST]}

    def _take_in(self, frame: Frame, report: Report, now: float) -> Verdict:
        """Add what a report tells beyond the one before it; a new life of the site counts from nothing again."""
        site = self.sites[frame.client]
        told = site.reported
        if told is None:
            reporting = sum(each.reported is not None for each in self.sites)
            told = site.reported = Reported(history=History() if reporting < MOST_DRAWN else None)
        if (frame.epoch, frame.sequence) <= (told.life, told.number):
            return Verdict(Outcome.REPEATED)
        before = told.last if frame.epoch == told.life else Report(0, 0, 0.0)
        if not report.goes_on_from(before):
            raise ProtocolError(f"report {frame.sequence} of site {frame.client} counts less than the one before it")
        told.life, told.number, told.last, told.at = frame.epoch, frame.sequence, report, now
        for name in ("decisions", "rewards", "reward_sum"):
            grown = getattr(report, name) - getattr(before, name)
            if told.history is not None:
                told.history.add(now, name, grown)
            self._rewards.add(now, name, grown)
        for arm, count in report.arms.items():
            name = arm if arm in self._chosen or len(self._chosen) < MOST_ARMS else OTHERS
            self._chosen[name] += count - before.arms.get(arm, 0)
            self._arms.add(now, name, count - before.arms.get(arm, 0))
        self.reports += 1
        return Verdict(Outcome.ACCEPTED)

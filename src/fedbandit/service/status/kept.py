"""What the status page tells, kept across starts of a coordinator: as a note beside the journal, written now and then.

It is not part of the truth about a federation: a note that is lost, damaged or of another version costs the charts and
counts that were in it, and nothing else. Of concerns those are kept that tell of something that has happened, for as
long as they last; what is still wrong is found again.
"""

from __future__ import annotations

import json
import math
import zlib
from collections import Counter, deque
from dataclasses import asdict, astuple
from typing import Any

from fedbandit.durable.coordinator.concerns import Concern
from fedbandit.service.status.history import SPANS, History
from fedbandit.service.status.reports import Reported, Reports
from fedbandit.service.status.site_record import SiteRecord
from fedbandit.service.status.telemetry import COUNTED, RECENT, Telemetry
from fedbandit.service.status.watch import PUT_OFF
from fedbandit.wire.report import Report
from fedbandit.wire.watched import Watched

FORMAT = 1
LARGEST = 4 * 1024 * 1024  # bytes of a note; of a larger one the traffic of single sites is left out, then the reports
_LEFT_OUT: tuple[dict[str, Any], ...] = ({}, {"site_traffic": {}}, {"site_traffic": {}, "reports": None})
_CONTACTS = ("first_contact", "last_contact")
_VERSIONS = ("has", "sent")


def note_of(telemetry: Telemetry) -> bytes:
    """Return what is to be kept.

    >>> told = Telemetry("clinics", "async-linucb", clients=1, now=100.0)
    >>> told.sites[0].uploads = 7
    >>> again = Telemetry("clinics", "async-linucb", clients=1, now=200.0)
    >>> recall(again, note_of(told)), again.sites[0].uploads, again.began
    (True, 7, 100.0)
    """
    memory = {
        "format": FORMAT,
        "began": telemetry.began,
        "version": telemetry.version,
        "sites": [_of_site(each) for each in (*telemetry.sites, telemetry.strangers)],
        "cut": list(telemetry.cut),
        "refusals": [telemetry.refusals.counts, telemetry.refusals.last],
        "traffic": _of_history(telemetry.traffic.all),
        "site_traffic": {number: _of_history(each) for number, each in telemetry.traffic.sites.items()},
        "reports": _of_reports(telemetry.reports),
        "concerns": [astuple(each) for each in telemetry.watch.concerns if _has_happened(each)],
    }
    for left_out in _LEFT_OUT:
        note = _packed(memory | left_out)
        if len(note) <= LARGEST:
            break
    return note


def recall(telemetry: Telemetry, note: bytes) -> bool:
    """Go on from what was kept; tell whether it could be read. What cannot be read changes nothing."""
    try:
        memory = json.loads(zlib.decompress(note))
        if memory["format"] != FORMAT:
            return False
        kept = Telemetry(telemetry.name, telemetry.algorithm, len(telemetry.sites), float(memory["began"]))
        *sites, strangers = memory["sites"]
        _recall_site(kept.strangers, strangers)
        for record, told in zip(kept.sites, sites, strict=False):  # there may be more sites than there were
            _recall_site(record, told)
        counts, last = memory["refusals"]
        kept.traffic.all, reports = _history(memory["traffic"]), _reports(memory["reports"], telemetry.reports)
        by_site = memory.get("site_traffic", {})  # notes of versions before it was kept have none
        kept.traffic.sites = {int(number): _history(each) for number, each in by_site.items()}
        concerns = [_concern(*each) for each in memory.get("concerns", ())]
        version, cut = (int(memory["version"][0]), int(memory["version"][1])), deque(memory["cut"], maxlen=RECENT)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, zlib.error):
        return False
    telemetry.began, telemetry.version, telemetry.cut = kept.began, version, cut
    for record, told in zip([*telemetry.sites, telemetry.strangers], [*kept.sites, kept.strangers], strict=True):
        record.take_over(told)
    telemetry.refusals.counts, telemetry.refusals.last = Counter(counts), last
    telemetry.traffic, telemetry.reports = kept.traffic, reports
    for each in concerns:
        telemetry.watch.concerns.open.setdefault((each.site, each.kind), each)
    return True


def _has_happened(concern: Concern) -> bool:
    """Tell whether a concern lasts for a while after its cause; that uploads are put off is over with the next one."""
    return math.isfinite(concern.until) and concern.kind != PUT_OFF


def _concern(kind: str, text: str, since: float, site: int | None, until: float) -> Concern:
    return Concern(str(kind), str(text), float(since), None if site is None else int(site), float(until))


def _packed(memory: dict[str, Any]) -> bytes:
    return zlib.compress(json.dumps(memory, allow_nan=False).encode(), 6)


def _of_site(site: SiteRecord) -> dict[str, Any]:
    return {name: getattr(site, name) for name in (*COUNTED, *_CONTACTS, *_VERSIONS, "revision")}


def _recall_site(site: SiteRecord, told: dict[str, Any]) -> None:
    for name in COUNTED:
        setattr(site, name, int(told[name]))
    for name in _CONTACTS:
        setattr(site, name, None if told[name] is None else float(told[name]))
    for name in _VERSIONS:
        setattr(site, name, (int(told[name][0]), int(told[name][1])))
    revision = told.get("revision")  # notes of versions before it was told have none
    site.revision = None if revision is None else int(revision)


def _of_history(history: History) -> list[Any]:
    return [[list(map(list, ring)) for ring in history.rings.values()], list(history.open)]


def _history(told: list[Any]) -> History:
    history = History()
    rings, (at, bucket) = told
    for span, ring in zip(SPANS, rings, strict=True):
        history.rings[span].extend((int(begin), _bucket(sums)) for begin, sums in ring)
    history.open = int(at), _bucket(bucket)
    return history


def _bucket(told: dict[str, float]) -> dict[str, float]:
    return {key: float(amount) for key, amount in told.items()}


def _of_reports(reports: Reports) -> dict[str, Any]:
    sites = [
        [number, each.life, each.number, asdict(each.last), each.at, each.history and _of_history(each.history)]
        for number, each in reports.sites.items()
    ]
    histories = [_of_history(each) for each in (reports.arms, reports.rewards)]
    return {"count": reports.count, "sites": sites, "chosen": reports.chosen, "histories": histories}


def _reports(told: dict[str, Any] | None, now: Reports) -> Reports:
    if told is None:
        return now
    arms, rewards = map(_history, told["histories"])
    sites = {
        int(site): Reported(int(life), int(number), _report(last), float(at), history and _history(history))
        for site, life, number, last, at, history in told["sites"]
    }
    return Reports(now.largest_reward, int(told["count"]), sites, Counter(told["chosen"]), arms, rewards)


def _report(told: dict[str, Any]) -> Report:
    watched = told.get("watched")
    return Report(**{**told, "watched": watched and Watched.from_values(watched)})

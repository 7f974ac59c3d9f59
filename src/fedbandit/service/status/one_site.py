"""What is told of one site, on a page of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fedbandit.service.status.history import WIDTHS
from fedbandit.service.status.severity import is_grave
from fedbandit.service.status.telemetry import SILENT_AFTER, Telemetry


def site_called(federations: Sequence[Telemetry], federation: str, site: str) -> tuple[Telemetry, int] | None:
    """Return where a site is told of, and its number; None if there is none of that name or number.

    >>> clinics = Telemetry("clinics", "async-linucb", clients=2, now=0.0, names=["north"])
    >>> [found and found[1] for found in (site_called([clinics], "clinics", each) for each in ("north", "1", "2"))]
    [0, 1, None]
    """
    for told in federations:
        if told.name == federation:
            if site.isascii() and site.isdecimal():
                return (told, int(site)) if len(site) < 10 and int(site) < len(told.sites) else None
            return next(((told, each.number) for each in told.sites if each.name == site), None)
    return None


def one_site(telemetry: Telemetry, number: int, now: float, span: int) -> dict[str, Any]:
    """Return all that is told of a site as plain data, with what happened over the last `span` seconds."""
    history = telemetry.traffic.sites.get(number)
    return {
        "federation": telemetry.name,
        "algorithm": telemetry.algorithm,
        "began": telemetry.began,
        "now": now,
        "silent_after": SILENT_AFTER,
        "version": telemetry.version[1],
        "revision": telemetry.revision,
        "span": span,
        "width": WIDTHS[span],
        "site": telemetry.told(number, now, span),
        "traffic": None if history is None else history.buckets(now, span),
        "concerns": [
            {"kind": each.kind, "text": each.text, "since": each.since, "site": each.site, "grave": is_grave(each)}
            for each in telemetry.watch.concerns
            if each.site == number
        ],
        "refusals": [each for each in telemetry.refusals.snapshot() if each["site"] == number],
        "rounds_cut": [each for each in telemetry.cut if number in each["left_out"]],
    }

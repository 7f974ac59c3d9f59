"""Telemetry in the form that Prometheus scrapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from fedbandit.service.status.severity import by_kind
from fedbandit.service.status.site_record import SiteRecord
from fedbandit.service.status.telemetry import Telemetry
from fedbandit.wire.report import Report
from fedbandit.wire.watched import Controlled, Watched

Labels = tuple[str, ...]
Value = tuple[Labels, float]
WHOLE, EACH = ("federation",), ("federation", "site")
DIRECTED, REASONED, STATED, OF_KIND = (("federation", each) for each in ("direction", "reason", "state", "kind"))


class Metrics(Collector):
    """The metrics of all federations of a coordinator, read from their telemetry when they are asked for.

    >>> metrics = Metrics([Telemetry("clinics", "async-linucb", clients=1, now=0.0)], clock=lambda: 1.0)
    >>> b'fedbandit_sites{federation="clinics",state="new"} 1.0' in metrics.text()
    True
    """

    def __init__(
        self,
        federations: Sequence[Telemetry],
        clock: Callable[[], float],
        problem: Callable[[], str] = lambda: "",
        is_active: Callable[[], bool] = lambda: True,
    ) -> None:
        """Take what tells of each federation, the time, why the coordinator does not work, and whether it stands by."""
        self._federations = federations
        self._clock = clock
        self._problem = problem
        self._is_active = is_active
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def text(self) -> bytes:
        """Return the page."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Yield every metric with its values now."""
        now = self._clock()
        yield _gauge("ready", "1 if the coordinator can do its work.", (), [((), float(not self._problem()))])
        active = [((), float(self._is_active()))]
        yield _gauge("coordinator_active", "1 if the coordinator serves, 0 while it stands by.", (), active)
        totals = {told.name: told.totals() for told in self._federations}
        directions = [(name, direction, total) for name, total in totals.items() for direction in ("up", "down")]
        messages = {"up": "uploads", "down": "downloads"}
        yield _counter(
            "messages", "Uploads accepted and downloads sent.", DIRECTED,
            (((name, way), total[messages[way]]) for name, way, total in directions),
        )  # fmt: skip
        yield _counter(
            "bytes", "Bytes of all frames.", DIRECTED,
            (((name, way), total[f"bytes_{way}"]) for name, way, total in directions),
        )  # fmt: skip
        yield _counter(
            "scalars", "Numbers in uploads and downloads.", DIRECTED,
            (((name, way), total[f"scalars_{way}"]) for name, way, total in directions),
        )  # fmt: skip
        refused = (((told.name, why), n) for told in self._federations for why, n in told.refusals.counts.items())
        yield _counter("refused", "Frames refused, by reason.", REASONED, refused)
        states = (((told.name, state), n) for told in self._federations for state, n in told.states(now).items())
        yield _gauge("sites", "Sites by state: new is one that was never heard of.", STATED, states)
        concerns = (
            ((told.name, kind), n) for told in self._federations for kind, n in by_kind(told.watch.concerns).items()
        )
        yield _gauge("concerns", "What calls for attention, by kind.", OF_KIND, concerns)
        versions = (((told.name,), told.version[1]) for told in self._federations)
        yield _gauge("version", "Number of the newest download.", WHOLE, versions)
        sizes = (((told.name,), told.journal_bytes) for told in self._federations)
        yield _gauge("journal_bytes", "Size of the journal.", WHOLE, sizes)
        yield from self._of_sites(now)

    def _of_sites(self, now: float) -> Iterator[Metric]:
        def each(value: Callable[[Telemetry, SiteRecord], float | None]) -> Iterator[Value]:
            for told in self._federations:
                for site in told.sites:
                    number = value(told, site)
                    if number is not None:
                        yield (told.name, site.name or str(site.number)), number

        def behind(_: Telemetry, site: SiteRecord) -> float:
            return 0.0 if site.behind_since is None else max(0.0, now - site.behind_since)

        def reported(number: Callable[[Report], float]) -> Iterator[Value]:
            for told in self._federations:
                for site, report in told.reports.sites.items():
                    yield (told.name, told.sites[site].name or str(site)), number(report.last)

        yield _counter("uploads", "Uploads accepted.", EACH, each(lambda _, site: site.uploads))
        yield _counter("downloads", "Downloads sent.", EACH, each(lambda _, site: site.downloads))
        yield _counter("repeated", "Frames that had come before.", EACH, each(lambda _, site: site.repeated))
        yield _counter("left_out", "Rounds closed without the site.", EACH, each(lambda _, site: site.left_out))
        refused = (  # from 0 on, whoever it is: Prometheus sees no increase in what begins at 1, as a new reason does
            ((told.name, site.name or str(site.number)), site.refused)
            for told in self._federations
            for site in (*told.sites, told.strangers)
        )
        yield _counter("site_refused", "Frames refused, by who sent them.", EACH, refused)
        yield _gauge(
            "site_last_contact_timestamp_seconds", "When the site was last heard of.", EACH,
            each(lambda _, site: site.last_contact),
        )  # fmt: skip
        yield _gauge("site_version", "Newest download that the site has.", EACH, each(lambda _, site: site.has[1]))
        yield _gauge(
            "site_revision", "How often what was agreed on has changed, as the site last told.", EACH,
            each(lambda _, site: site.revision),
        )  # fmt: skip
        yield _gauge(
            "site_versions_behind", "Downloads that it has not confirmed.", EACH,
            each(lambda _, site: len(site.pending)),
        )  # fmt: skip
        yield _gauge("site_seconds_behind", "For how long it has been behind.", EACH, each(behind))
        yield _gauge(
            "site_observations", "Observations of the site that the shared model rests on.", EACH,
            each(lambda told, site: told.watch.observations.get(site.number)),
        )  # fmt: skip
        yield _gauge(
            "site_backlog", "Uploads of the site that are not acknowledged, if it tells.", EACH,
            each(lambda told, site: told.watch.backlog(site.number)),
        )  # fmt: skip
        yield _gauge(
            "site_peers", "Other sites whose observations it is sent, where not all share with all.", EACH,
            each(lambda told, site: None if told.peers is None else float(told.peers[site.number])),
        )  # fmt: skip
        drifted = (
            ((told.name, told.sites[site].name or str(site), kind), count)
            for told in self._federations
            for site, report in told.reports.sites.items()
            for kind, count in report.last.drift.items()
        )
        yield _gauge("site_drift", "Alarms of drift since the site was opened, by kind.", (*EACH, "kind"), drifted)
        yield _gauge(
            "site_reported_decisions", "Decisions since the site was opened, if it reports them.", EACH,
            reported(lambda report: report.decisions),
        )  # fmt: skip
        yield _gauge(
            "site_reported_reward_sum", "Sum of rewards since the site was opened, if it reports it.", EACH,
            reported(lambda report: report.reward_sum),
        )  # fmt: skip
        yield from self._of_watching()

    def _of_watching(self) -> Iterator[Metric]:
        def watched(number: Callable[[Watched], float | None]) -> Iterator[Value]:
            for told in self._federations:
                for site, report in told.reports.sites.items():
                    found = None if report.last.watched is None else number(report.last.watched)
                    if found is not None:
                        yield (told.name, told.sites[site].name or str(site)), found

        def controlled(number: Callable[[Controlled], float | None]) -> Iterator[Value]:
            return watched(lambda each: None if each.control is None else number(each.control))

        yield _gauge(
            "site_reward_predicted", "Mean reward that was predicted of choices whose reward has come.", EACH,
            watched(lambda each: each.means and each.means[0]),
        )  # fmt: skip
        yield _gauge(
            "site_reward_received", "Mean reward of the same choices.", EACH,
            watched(lambda each: each.means and each.means[1]),
        )  # fmt: skip
        yield _gauge(
            "site_explored", "Share of choices that were less likely than not.", EACH,
            watched(lambda each: each.explored / each.known if each.known else None),
        )  # fmt: skip
        yield _gauge("site_control_share", "Share of the control group.", EACH, controlled(lambda each: each.share))
        yield _gauge(
            "site_control_difference", "How much a decision earns more without control.", EACH,
            controlled(lambda each: each.difference),
        )  # fmt: skip
        yield _gauge(
            "site_control_difference_low", "Lower end of its 95 % interval.", EACH,
            controlled(lambda each: each.interval and each.interval[0]),
        )  # fmt: skip
        yield _gauge(
            "site_control_difference_high", "Upper end of its 95 % interval.", EACH,
            controlled(lambda each: each.interval and each.interval[1]),
        )  # fmt: skip


def _counter(name: str, meaning: str, labels: Labels, values: Iterable[Value]) -> Metric:
    metric = CounterMetricFamily(f"fedbandit_{name}", meaning, labels=labels)
    for names, value in values:
        metric.add_metric(names, value)
    return metric


def _gauge(name: str, meaning: str, labels: Labels, values: Iterable[Value]) -> Metric:
    metric = GaugeMetricFamily(f"fedbandit_{name}", meaning, labels=labels)
    for names, value in values:
        metric.add_metric(names, value)
    return metric

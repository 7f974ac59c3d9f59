"""What a coordinator is to serve, from a TOML file.

broker = "tls://broker.example.org:4222"
credentials = "keys/coordinator.pem"    # with tls://
authority = "keys"                      # with tls://: a roster says which sites take part; the folder of ca.key
journal = "journals"                    # a folder of SQLite files, or postgresql://USER@HOST/BASE
http = "127.0.0.1:8080"                 # health, metrics and the status page
replicas = 1                            # on how many brokers of a cluster the streams are kept
standby = false                         # wait while another coordinator has the journals, and take over when it fails
traces = false                          # spans for OpenTelemetry

[federations.demo]
algorithm = "lean-linucb"
clients = 10
dimension = 25
arms = 25                               # 1 where the algorithm need not know
horizon = 1                             # 1 where the algorithm need not know
features = "features.toml"              # where sites make vectors of values: dimension and arms follow from it
set = { upload_threshold = 1.1 }        # parameters of the algorithm
deadline = 30                           # seconds after which a round goes on without silent sites
epoch_seconds = 3600                    # of an epoch, at whose end an algorithm with a discount forgets
keep_log = false                        # keep all envelopes for ever, to replay them
limits = { context = 1.0, reward = 1.0, observations_per_second = 100 }
expires = 86400                         # seconds after which sites that join end a decision without a reward
default_reward = 0.0                    # what such a decision counts as; without it, it is forgotten
secure_aggregation = false              # with tls://: the coordinator learns sums over several sites alone
smallest_cohort = 3                     # over how many sites at least, with secure_aggregation
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import InvalidInput, unknown
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.features.features import Features
from fedbandit.files.toml import read_toml
from fedbandit.protocol.agreement import charter_of
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.ending import Ending
from fedbandit.service.coordinator.plan_checks import (
    GUARDS,
    HIDDEN,
    check_authority,
    check_deadline,
    check_secure,
    lacking,
)
from fedbandit.transport.nats.address import check_server
from fedbandit.transport.nats.subjects import Subjects

MOST_REPLICAS = 5  # of NATS
_BOUNDS = {each.name for each in fields(Bounds)}
_LIMITS = {each.name for each in fields(Limits)} - {"bounds"}
_SERVICE = {"broker", "credentials", "authority", "journal", "http", "replicas", "standby", "traces", "federations"}
_FEDERATION = {
    "algorithm", "clients", "dimension", "arms", "horizon", "set", "deadline", "epoch_seconds", "keep_log",
    "limits", "features", "expires", "default_reward", "secure_aggregation", "smallest_cohort",
}  # fmt: skip


@dataclass(frozen=True)
class FederationPlan:
    """One federation that a coordinator serves."""

    name: str
    charter: Charter
    limits: Limits = Limits()
    deadline: float | None = None
    keep_log: bool = False

    @property
    def missing_limits(self) -> list[str]:
        """Return which limits are not set, of those without which one site can say whatever it likes."""
        told = {**asdict(self.limits.bounds), "observations_per_second": self.limits.observations_per_second}
        return [name for name in GUARDS if math.isinf(told[name])]


@dataclass(frozen=True)
class ServicePlan:
    """All that a coordinator needs to know."""

    federations: tuple[FederationPlan, ...]
    broker: str = "nats://127.0.0.1:4222"
    credentials: Path | None = None
    authority: Path | None = None  # whose key signs the certificates of sites that join
    journal: str = "journals"
    host: str = "127.0.0.1"
    port: int = 8080
    replicas: int = 1  # brokers of a cluster on which each stream is kept
    standby: bool = False  # wait for journals that another coordinator has
    traces: bool = False  # spans for OpenTelemetry
    elsewhere: frozenset[str] = frozenset()  # federations of the file that other processes serve, at the same broker

    @property
    def journals(self) -> list[str]:
        """Return the names of all journals that the coordinator writes to."""
        names = [each.name for each in self.federations]
        return names if self.authority is None else [*names, *map(roster_journal, names)]

    def serving_only(self, names: Iterable[str]) -> ServicePlan:
        """Return the plan of a process that serves these federations and leaves the others to other processes."""
        known, chosen = {each.name for each in self.federations}, set(names)
        for name in sorted(chosen - known):
            raise unknown("federation", name, known)
        kept = tuple(each for each in self.federations if each.name in chosen)
        return replace(self, federations=kept, elsewhere=self.elsewhere | (known - chosen))

    def replicated(self, replicas: int) -> ServicePlan:
        """Return the plan with streams that are kept on so many brokers."""
        if not 1 <= replicas <= MOST_REPLICAS:
            raise InvalidInput(f"replicas must be from 1 to {MOST_REPLICAS}, not {replicas}: give 3, or leave it out")
        return replace(self, replicas=replicas)

    def waiting(self) -> ServicePlan:
        """Return the plan of a coordinator that waits while another has its journals."""
        if self.journal == "memory:":
            raise InvalidInput(
                "standby has no meaning with journal = 'memory:', for which nobody can wait: give a folder"
            )
        return replace(self, standby=True)

    def warnings(self) -> dict[str, str]:
        """Return what is to be said of federations whose sites are others' and are not held to any limits, by name.

        With `tls://` the sites are run by whoever holds a credential; with `nats://` all is on one machine.
        """
        if not self.broker.startswith("tls://"):
            return {}
        hidden = {each.name: HIDDEN for each in self.federations if each.charter.smallest_cohort is not None}
        missing = {each.name: each.missing_limits for each in self.federations}
        return {name: lacking(name, limits) for name, limits in missing.items() if limits} | hidden

    def listening_at(self, http: str) -> ServicePlan:
        """Return the plan with another HTTP address, HOST:PORT.

        >>> ServicePlan(()).listening_at("0.0.0.0:9000").port
        9000
        """
        host, _, port = http.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 65535:
            raise InvalidInput(f"http {http!r} is no address: write HOST:PORT, as in 127.0.0.1:8080")
        return replace(self, host=host.strip("[]"), port=int(port))


def read_plan(path: Path) -> ServicePlan:
    """Read and check a file; anything wrong is said in one sentence that names the file."""
    data = read_toml(path)
    try:
        return _plan(data, path.parent)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def _plan(data: dict[str, Any], folder: Path) -> ServicePlan:
    _only("", data, _SERVICE)
    tables = _value(data, "federations", dict, {})
    if not tables:
        raise InvalidInput("there is no federation: add a table [federations.NAME]")
    plan = ServicePlan(tuple(_federation(name, table, folder) for name, table in tables.items()))
    journal = _value(data, "journal", str, plan.journal)
    if "://" not in journal and journal != "memory:":
        journal = str(folder / journal)
    credentials = _value(data, "credentials", str, "")
    authority = _value(data, "authority", str, "")
    plan = replace(
        plan, broker=check_server(_value(data, "broker", str, plan.broker)), journal=journal,
        credentials=folder / credentials if credentials else None, authority=folder / authority if authority else None,
        traces=_value(data, "traces", bool, False),
    )  # fmt: skip
    if plan.authority is not None:
        check_authority(plan.broker, {each.name: roster_journal(each.name) for each in plan.federations})
    check_secure(plan.broker, {each.name: each.charter for each in plan.federations})
    plan = plan.replicated(_value(data, "replicas", int, 1))
    if _value(data, "standby", bool, False):
        plan = plan.waiting()
    return plan.listening_at(data["http"]) if _value(data, "http", str, "") else plan


def roster_journal(federation: str) -> str:
    """Return the name of the journal of a federation's roster.

    >>> roster_journal("clinics")
    'clinics-roster'
    """
    return f"{federation}-roster"


def _federation(name: str, table: Any, folder: Path) -> FederationPlan:
    Subjects(name)
    where = f"federations.{name}"
    if not isinstance(table, dict):
        raise InvalidInput(f"{where} must be a table, not {table!r}: write [{where}]")
    _only(f"{where}.", table, _FEDERATION)
    file = _value(table, "features", str, "")
    for key in ("algorithm", "clients") if file else ("algorithm", "clients", "dimension"):
        if key not in table:
            raise InvalidInput(f"{where}.{key} is missing: a federation needs an algorithm, clients and a dimension")
    sizes = {key: _value(table, key, int, 1) for key in ("clients", "arms", "horizon")}
    try:
        charter = charter_of(
            _value(table, "algorithm", str, ""), _value(table, "set", dict, {}) | _secure(table), **sizes,
            dimension=_value(table, "dimension", int, 0) if "dimension" in table else None,
            epoch_seconds=table.get("epoch_seconds"), features=Features.read(folder / file) if file else None,
            ending=Ending.among(table),
        )  # fmt: skip
        limits = _limits(_value(table, "limits", dict, {}))
        charter.ending.require_possible(duels=charter.algorithm.duels, largest=limits.bounds.reward)
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None
    deadline = _value(table, "deadline", int | float, 0) if "deadline" in table else None
    check_deadline(name, charter, deadline)
    return FederationPlan(name, charter, limits, deadline, _value(table, "keep_log", bool, False))


def _secure(table: dict[str, Any]) -> dict[str, Any]:
    return {name: table[name] for name in ("secure_aggregation", "smallest_cohort") if name in table}


def _limits(table: dict[str, Any]) -> Limits:
    _only("limits.", table, _BOUNDS | _LIMITS)
    given = {name: _value(table, name, int | float, 0) for name in table}
    bounds = Bounds(**{name: value for name, value in given.items() if name in _BOUNDS})
    return Limits(bounds, **{name: value for name, value in given.items() if name in _LIMITS})


def _only(where: str, table: dict[str, Any], known: set[str]) -> None:
    for name in table:
        if name not in known:
            raise unknown("key", f"{where}{name}", {f"{where}{each}" for each in known})


def _value(table: dict[str, Any], name: str, kind: Any, default: Any) -> Any:
    value = table.get(name, default)
    is_right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    if not is_right:
        wanted = {dict: "a table", str: "a text", int: "a whole number", bool: "true or false"}.get(kind, "a number")
        raise InvalidInput(f"{name} must be {wanted}, not {value!r}: give such a value")
    return value

"""The configuration of a broker: JetStream that syncs each message, and who may say what where.

Every user is known by the name in its certificate. A site may publish under its own subjects and listen to its own,
and do nothing else; the coordinator has the streams. A certificate of our authority whose name is not on a roster is
refused, as is one that has expired or is of another authority.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats.address import servers_of
from fedbandit.transport.nats.broker_accounts import COORDINATOR, accounts

BROKER = "broker"
__all__ = ["BROKER", "COORDINATOR", "LARGEST_MESSAGE", "BrokerSettings", "Cluster", "Security"]
LARGEST_MESSAGE = 8 * 1024 * 1024  # beyond that, NATS advises against messages
ROUTE_PORTS = 2000  # from the port of a broker to that at which others of its cluster reach it: 4222 and 6222, usually
LARGEST_PORT = 65535


@dataclass(frozen=True)
class Security:
    """The broker's credential and authority, and how many sites each federation has.

    With the name of a doorkeeper, the broker lets in whomever the coordinator's roster names.
    """

    credential: Path
    authority: Path
    sites: Mapping[str, int]
    doorkeeper: str | None = None


@dataclass(frozen=True)
class Cluster:
    """The cluster that a broker is one of: its name there, where it hears the others, and where all of them are heard.

    >>> Cluster.of("tls://one:4222,two:4222", "two:4222")
    Cluster(name='two-4222', port=6222, routes=('one:6222', 'two:6222'))
    """

    name: str
    port: int
    routes: tuple[str, ...]  # HOST:PORT of all, itself among them

    @classmethod
    def of(cls, url: str, which: str) -> Cluster:
        """Return that of HOST:PORT, one of the brokers that a URL names; they talk 2,000 ports further."""
        named = [urlsplit(each) for each in servers_of(url)]
        places = [(str(each.hostname), int(each.port or 0)) for each in named]
        known = [f"{each}:{at}" for each, at in places]
        if which not in known:
            raise InvalidInput(f"{which!r} is none of the brokers {', '.join(known)}: give one of them")
        for name, at in places:
            if at + ROUTE_PORTS > LARGEST_PORT:
                raise InvalidInput(f"brokers of a cluster need port {at + ROUTE_PORTS}, too: give {name} a lower one")
            if url.startswith("tls://") and _is_number(name):
                raise InvalidInput(f"{name} is no name: with tls:// the brokers of a cluster know each other by names")
        host, port = places[known.index(which)]
        return cls(f"{host}-{port}", port + ROUTE_PORTS, tuple(f"{each}:{at + ROUTE_PORTS}" for each, at in places))


@dataclass(frozen=True)
class BrokerSettings:
    """What a broker is to be told.

    >>> print(BrokerSettings(Path("broker"), port=4222).text)
    listen: "127.0.0.1:4222"
    max_payload: 8388608
    jetstream {
      store_dir: "broker"
      sync_interval: always
    }
    """

    store: Path
    host: str = "127.0.0.1"
    port: int = 4222
    security: Security | None = None
    cluster: Cluster | None = None
    more: tuple[str, ...] = field(default=())  # further lines of a nats-server's configuration

    @property
    def url(self) -> str:
        """Return where clients find the broker."""
        return f"{'tls' if self.security else 'nats'}://{self.host}:{self.port}"

    @property
    def text(self) -> str:
        """Return the configuration of a nats-server."""
        lines = [
            f"listen: {json.dumps(f'{self.host}:{self.port}')}",
            f"max_payload: {LARGEST_MESSAGE}",
            "jetstream {",
            f"  store_dir: {json.dumps(str(self.store))}",
            "  sync_interval: always",
            "}",
            *self.more,
        ]
        if self.cluster is not None:
            lines += _cluster(self.cluster, self.host, self.security)
        if self.security is not None:
            lines += _security(self.security)
        return "\n".join(lines)


def _security(security: Security) -> list[str]:
    return [*_tls(security, "verify_and_map: true"), *accounts(security.sites, security.doorkeeper)]


def _tls(security: Security, verify: str) -> list[str]:
    credential = json.dumps(str(security.credential))
    files = {"cert_file": credential, "key_file": credential, "ca_file": json.dumps(str(security.authority))}
    return ["tls {", *(f"  {name}: {path}" for name, path in files.items()), f"  {verify}", "}"]


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _cluster(cluster: Cluster, host: str, security: Security | None) -> list[str]:
    """With TLS, only whoever has a certificate with the name of one of the brokers is taken for one; no site has."""
    verify = "verify_cert_and_check_known_urls: true"
    return [
        f"server_name: {json.dumps(cluster.name)}",
        "cluster {",
        "  name: fedbandit",
        f"  listen: {json.dumps(f'{host}:{cluster.port}')}",
        f"  routes: {json.dumps([f'nats-route://{each}' for each in cluster.routes])}",
        *(f"  {line}" for line in ([] if security is None else _tls(security, verify))),
        "}",
    ]

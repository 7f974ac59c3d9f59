"""The configuration of a broker: JetStream that syncs each message, and who may say what where.

Every user is known by the name in its certificate. A site may publish under its own subjects and listen to its own,
and do nothing else; the coordinator has the streams. A certificate of our authority whose name is not on a roster is
refused, as is one that has expired or is of another authority.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fedbandit.transport.nats.broker_accounts import COORDINATOR, accounts

BROKER = "broker"
__all__ = ["BROKER", "COORDINATOR", "LARGEST_MESSAGE", "BrokerSettings", "Security"]
LARGEST_MESSAGE = 8 * 1024 * 1024  # beyond that, NATS advises against messages


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
        if self.security is not None:
            lines += _security(self.security)
        return "\n".join(lines)


def _security(security: Security) -> list[str]:
    credential = json.dumps(str(security.credential))
    return [
        "tls {",
        f"  cert_file: {credential}",
        f"  key_file: {credential}",
        f"  ca_file: {json.dumps(str(security.authority))}",
        "  verify_and_map: true",
        "}",
        *accounts(security.sites, security.doorkeeper),
    ]

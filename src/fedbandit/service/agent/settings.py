"""Which site to serve, and where, from a TOML file.

federation = "tls://broker.example.org:4222/clinics"    # what the site has agreed on comes from the coordinator
credentials = "clinics.north.pem"                       # with tls://
number = 3                                              # only with nats://, where no credential tells it
offline = { algorithm = "lean-linucb", dimension = 4 }  # in place of a federation: a site that talks to nobody
store = "site.db"                                       # what is pending and unsent survives restarts
features = "features.toml"                              # where the federation has features
log = "decisions"                                       # a folder for the log of decisions, which never leaves
log_raw = true                                          # in it what was on offer as it was given, or as vectors
report = false                                          # tell the status page counts of arms and rewards
traces = false                                          # spans for OpenTelemetry
propensity_samples = 0                                  # further samples a choice, for steadier propensities
listen = "127.0.0.1:8077"                               # or unix:site.sock
token_file = "site.token"                               # needed where others than this machine can ask
"""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Any

import msgspec

from fedbandit.core.errors import InvalidInput, unknown
from fedbandit.features.features import Features
from fedbandit.files.toml import read_toml
from fedbandit.site.site import Site
from fedbandit.site.traced import TracedSite

SHORTEST_TOKEN = 16
UNIX = "unix:"


class AgentPlan(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What the file says; paths are relative to its folder."""

    store: str
    federation: str = ""
    credentials: str = ""
    number: int | None = None
    offline: dict[str, Any] = {}  # msgspec copies it
    features: str = ""
    log: str = ""
    log_raw: bool = True
    report: bool = False
    traces: bool = False
    propensity_samples: int = 0
    listen: str = "127.0.0.1:8077"
    token_file: str = ""
    folder: str = "."

    def open_site(self, *, restored: bool) -> Site:
        """Open the site, and connect it unless it is offline."""
        folder = Path(self.folder)
        given: dict[str, Any] = {
            "store": folder / self.store, "restored": restored, "report": self.report, "log_raw": self.log_raw,
            "log": folder / self.log if self.log else None, "propensity_samples": self.propensity_samples,
            "features": Features.read(folder / self.features) if self.features else None, "number": self.number,
        }  # fmt: skip
        kind = TracedSite if self.traces else Site
        if self.federation:
            return kind.join(
                self.federation, credentials=folder / self.credentials if self.credentials else None, **given
            )
        taken = sorted(self.offline.keys() & given.keys() - {"number"})
        if taken:
            raise InvalidInput(f"offline.{taken[0]} stands outside of the table: write {taken[0]} = ... above it")
        return kind(**{**given, "number": self.number or 0, **self.offline})

    @property
    def socket(self) -> Path | None:
        """Return the path of the Unix socket to listen at, if that is where."""
        return Path(self.folder) / self.listen.removeprefix(UNIX) if self.listen.startswith(UNIX) else None

    @property
    def address(self) -> tuple[str, int]:
        """Return host and port to listen at.

        >>> AgentPlan(store="site.db", listen="[::1]:9000").address
        ('::1', 9000)
        """
        host, _, port = self.listen.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 65535:
            raise InvalidInput(f"listen = {self.listen!r} is no address: write HOST:PORT, or unix:PATH")
        return host.strip("[]"), int(port)

    @property
    def is_for_this_machine(self) -> bool:
        """Tell whether only programs of this machine can ask.

        >>> [AgentPlan(store="s", listen=each).is_for_this_machine for each in ("0.0.0.0:1", "127.0.0.1:1", "unix:s")]
        [False, True, True]
        """
        if self.socket is not None:
            return True
        host = self.address[0]
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    def token(self) -> str:
        """Return the token that requests must show; "" where none is needed and none is given."""
        if not self.token_file:
            if self.is_for_this_machine:
                return ""
            raise InvalidInput(
                f"listen = {self.listen!r} lets other machines ask: give token_file, a file with a secret of at least "
                f"{SHORTEST_TOKEN} letters, or listen at 127.0.0.1"
            )
        path = Path(self.folder) / self.token_file
        try:
            token = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"token_file {path} cannot be read ({error}): write a secret into it") from None
        if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
            raise InvalidInput(
                f"the token in {path} must be at least {SHORTEST_TOKEN} plain letters long, not {len(token)}: "
                "make one with `openssl rand -hex 24`"
            )
        return token


def read_agent_plan(path: Path) -> AgentPlan:
    """Read and check a file; anything wrong is said in one sentence that names the file."""
    data = read_toml(path)
    known = [each for each in AgentPlan.__struct_fields__ if each != "folder"]
    for name in data:
        if name not in known:
            raise InvalidInput(f"{path}: {unknown('key', name, known)}")
    try:
        plan: AgentPlan = msgspec.convert({**data, "folder": str(path.parent)}, AgentPlan)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"{path}: {error}: correct that line") from None
    if bool(plan.federation) == bool(plan.offline):
        raise InvalidInput(f"{path}: give federation, or offline = {{ algorithm = ..., dimension = ... }}, one of them")
    try:
        if plan.socket is None:
            _ = plan.address
        plan.token()
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None
    return plan

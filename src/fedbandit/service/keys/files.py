"""Credentials: an authority of the federation's own, and what it signs.

A folder holds the authority (`ca.pem`, `ca.key`) and a credential for each name: one file with the private key, its
certificate and the authority's certificate, all that its owner needs. The name in the certificate is who one is:
`coordinator`, `broker`, or FEDERATION.NUMBER for a site. Whoever has `ca.key` can make credentials: keep it apart.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats.broker_settings import BROKER, COORDINATOR

if TYPE_CHECKING:
    from fedbandit.service.keys.certificates import Authority

DOORKEEPER = "doorkeeper: "  # the line at the head of a broker's credential that names who says whom it may let in
LOCAL = ("localhost", "127.0.0.1")


def check_name(name: str) -> str:
    """Return a name that a credential can have, or say what is wrong with it.

    >>> check_name("demo.3"), check_name("coordinator")
    ('demo.3', 'coordinator')
    """
    if name not in (BROKER, COORDINATOR) and not re.fullmatch(r"[A-Za-z0-9_-]{1,64}\.(0|[1-9][0-9]{0,8})", name):
        raise InvalidInput(
            f"{name!r} cannot have a credential: give FEDERATION.NUMBER for a site, as in demo.3, or {COORDINATOR}, "
            f"or {BROKER}"
        )
    return name


class Keys:
    """A folder of credentials.

    >>> Keys(Path("keys")).path("demo.3").name
    'demo.3.pem'
    """

    def __init__(self, folder: Path) -> None:
        """Take the folder; it need not be there yet."""
        self.folder = folder

    @property
    def authority(self) -> Path:
        """Return the certificate of the authority."""
        return self.folder / "ca.pem"

    @property
    def authority_key(self) -> Path:
        """Return the secret of the authority."""
        return self.folder / "ca.key"

    def path(self, name: str) -> Path:
        """Return where the credential of a name is."""
        return self.folder / f"{name}.pem"

    def new(self, name: str, *, days: float = 365.0, hosts: tuple[str, ...] = LOCAL, replace: bool = False) -> Path:
        """Make a credential, and the authority if there is none yet; `hosts` are where a broker is reached."""
        certificates = _certificates()
        check_name(name)
        if not 0 < days <= 36_500:
            raise InvalidInput(f"days must be more than 0 and at most 36500, not {days:g}: say how long it is valid")
        path = self.path(name)
        if path.exists() and not replace:
            raise InvalidInput(f"{path} is there already: say --replace to make a new one in its place")
        if not self.authority.exists() and not self.authority_key.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            authority = certificates.new_authority()
            write_secret(self.authority_key, authority.secret)
            self.authority.write_bytes(authority.text)
        authority = self.open()
        until = datetime.now(UTC) + timedelta(days=days)
        write_secret(path, authority.issue(name, until, hosts if name == BROKER else ()))
        return path

    def open(self) -> Authority:
        """Return the authority, which signs."""
        try:
            certificate, key = self.authority.read_bytes(), self.authority_key.read_bytes()
            authority: Authority = _certificates().Authority.read(certificate, key)
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"the authority in {self.folder} cannot be used ({error}): ca.pem and ca.key belong there"
            ) from None
        return authority

    def doorkeeper(self) -> str:
        """Return the name of the doorkeeper whose answers the broker is to believe, from the broker's credential."""
        path = self.path(BROKER)
        first = path.read_text(encoding="ascii", errors="replace").partition("\n")[0]
        if not first.startswith(DOORKEEPER):
            raise InvalidInput(
                f"{path} does not name the authority's doorkeeper, as it was made by an earlier version: make it anew "
                f"with `fedbandit keys new {BROKER} --replace --host HOST`"
            )
        return first.removeprefix(DOORKEEPER)


def _certificates() -> ModuleType:
    try:
        from fedbandit.service.keys import certificates
    except ImportError:
        raise InvalidInput(
            "certificates need the library cryptography: install fedbandit with its extra deploy"
        ) from None
    return certificates


def write_secret(path: Path, data: bytes) -> None:
    """Write a file that only its owner ever could read, and wait until it is on the disk."""
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())

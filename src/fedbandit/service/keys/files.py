"""Credentials: an authority of the federation's own, and what it signs.

A folder holds the authority (`ca.pem`, `ca.key`) and a credential for each name: one file with the private key, its
certificate and the authority's certificate, all that its owner needs. The name in the certificate is who one is:
`coordinator`, `broker`, or FEDERATION.NUMBER for a site. Whoever has `ca.key` can make credentials: keep it apart.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats.broker_settings import BROKER, COORDINATOR

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
        try:
            from fedbandit.service.keys import certificates
        except ImportError:
            raise InvalidInput("certificates need the library cryptography: install fedbandit[deploy]") from None
        check_name(name)
        if not 0 < days <= 36_500:
            raise InvalidInput(f"days must be more than 0 and at most 36500, not {days:g}: say how long it is valid")
        path = self.path(name)
        if path.exists() and not replace:
            raise InvalidInput(f"{path} is there already: say --replace to make a new one in its place")
        if not self.authority.exists() and not self.authority_key.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            authority = certificates.new_authority()
            _write_secret(self.authority_key, authority.secret)
            self.authority.write_bytes(authority.text)
        try:
            authority = certificates.Authority.read(self.authority.read_bytes(), self.authority_key.read_bytes())
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"the authority in {self.folder} cannot be used ({error}): ca.pem and ca.key belong there"
            ) from None
        until = datetime.now(UTC) + timedelta(days=days)
        _write_secret(path, authority.issue(name, until, hosts if name == BROKER else ()))
        return path


def _write_secret(path: Path, data: bytes) -> None:
    """Write a file that only its owner ever could read."""
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(data)

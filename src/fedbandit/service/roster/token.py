"""What an invitation is: one line of text that lets whoever has it ask once for a certificate, and do nothing else.

It holds the broker's address and a credential that is valid for as long as the invitation. With it the broker lets one
in to say one thing: "sign this key". The private key of the site is made at the site and never leaves it.
"""

from __future__ import annotations

import binascii
import json
import re
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from cryptography import x509
from cryptography.x509.oid import NameOID

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.roster import check_site_name
from fedbandit.transport.nats.address import check_server
from fedbandit.transport.nats.subjects import Subjects

_BEGINNING = "fedbandit1."
_CREDENTIAL = re.compile(r"joining:([^:]+):([0-9a-f]{32})")


def joining_name(federation: str, token: str) -> str:
    """Return the name in the certificate of whoever was invited: no site can have it.

    >>> joining_name("clinics", 32 * "0")
    'joining:clinics:00000000000000000000000000000000'
    """
    return f"joining:{federation}:{token}"


def read_joining_name(name: str) -> tuple[str, str] | None:
    """Return the federation and the token that a certificate names; None if it is not of somebody who was invited."""
    found = _CREDENTIAL.fullmatch(name)
    return None if found is None else (found[1], found[2])


@dataclass(frozen=True)
class Invitation:
    """What a token says."""

    broker: str
    name: str  # of the site
    credential: bytes

    @property
    def text(self) -> str:
        """Return the token."""
        content = json.dumps({"broker": self.broker, "name": self.name, "credential": self.credential.decode()})
        return _BEGINNING + urlsafe_b64encode(zlib.compress(content.encode(), 9)).decode().rstrip("=")

    @classmethod
    def read(cls, text: str) -> Invitation:
        """Read a token, or say what is wrong with it."""
        try:
            body = "".join(text.split())
            if not body.startswith(_BEGINNING):
                raise ValueError("it begins otherwise")
            body = body.removeprefix(_BEGINNING)
            reader = zlib.decompressobj()
            told = json.loads(reader.decompress(urlsafe_b64decode(body + "=" * (-len(body) % 4)), 1 << 16))
            made = cls(check_server(told["broker"]), check_site_or_number(told["name"]), told["credential"].encode())
            Subjects(made.federation)
        except (InvalidInput, ValueError, KeyError, TypeError, AttributeError, IndexError, zlib.error, binascii.Error):
            raise InvalidInput(
                "this is no token of `fedbandit invite`, or not all of it: copy the whole line"
            ) from None
        return made

    @property
    def until(self) -> float:
        """Return until when it can be used."""
        return self._certificate.not_valid_after_utc.timestamp()

    @property
    def authority(self) -> x509.Certificate:
        """Return the certificate of the authority that invites."""
        return x509.load_pem_x509_certificates(self.credential)[-1]

    @property
    def federation(self) -> str:
        """Return the federation to which it invites."""
        return self._named[0]

    @property
    def token(self) -> str:
        """Return what tells this invitation from others."""
        return self._named[1]

    @property
    def _certificate(self) -> x509.Certificate:
        return x509.load_pem_x509_certificates(self.credential)[0]

    @property
    def _named(self) -> tuple[str, str]:
        name = str(self._certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)
        found = read_joining_name(name)
        if found is None:
            raise ValueError(f"{name!r} is nobody who was invited")
        return found


def check_site_or_number(name: str) -> str:
    """Return the name of a site, or the number that stands for it; it becomes part of a file's name."""
    return name if re.fullmatch(r"[0-9]{1,9}", name) else check_site_name(name)

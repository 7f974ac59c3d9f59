"""Where a broker is, and who one is there."""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats.subjects import Subjects

USUAL_PORT = 4222  # of NATS
_CERTIFICATE = "-----BEGIN CERTIFICATE-----"


def client_library() -> Any:
    """Return the library that talks to a broker, which only deployments need."""
    try:
        return import_module("nats")
    except ImportError:
        raise InvalidInput(
            "a broker is reached through the library nats-py: install fedbandit with its extra deploy"
        ) from None


@dataclass(frozen=True)
class Address:
    """A federation at a broker: `nats://HOST:PORT/FEDERATION`, or `tls://...` with a credential; PORT may be left out.

    >>> address = Address.parse("nats://127.0.0.1:4222/demo")
    >>> address.server, address.federation
    ('nats://127.0.0.1:4222', 'demo')

    Of a cluster of brokers there may be several, of which any will do:

    >>> Address.parse("tls://one,two,three:4223/demo").server
    'tls://one:4222,two:4222,three:4223'
    """

    server: str
    federation: str

    @classmethod
    def parse(cls, url: str) -> Address:
        """Take an address apart."""
        parts = urlsplit(url)
        name = parts.path.strip("/")
        places = [_with_port(each) for each in parts.netloc.split(",")]
        server = f"{parts.scheme}://{','.join(places)}" if parts.netloc else url
        check_server(server)
        if not name:
            raise InvalidInput(f"{url!r} does not name the federation: write it after the broker, as in {url}/demo")
        Subjects(name)
        return cls(server, name)


def _with_port(place: str) -> str:
    has_port = re.search(r":\d*$", place.rpartition("]")[2]) is not None
    return place if has_port or not place else f"{place}:{USUAL_PORT}"


def servers_of(url: str) -> list[str]:
    """Return the URLs of all brokers that a URL names.

    >>> servers_of("nats://one:4222,two:4222")
    ['nats://one:4222', 'nats://two:4222']
    """
    scheme, separator, places = url.partition("://")
    return [f"{scheme}{separator}{each}" for each in places.split(",")]


def check_server(url: str) -> str:
    """Return the URL of a broker, or of several with commas between them, or say what is wrong with it.

    >>> check_server("localhost")
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: 'localhost' is no address of a broker: write nats://HOST:PORT or tls://HOST:PORT
    """
    try:
        named = [urlsplit(each) for each in servers_of(url)]
        is_one = all(each.scheme in ("nats", "tls") and each.hostname and each.port is not None for each in named)
    except ValueError:  # a port that is no number
        is_one = False
    if not is_one:
        raise InvalidInput(f"{url!r} is no address of a broker: write nats://HOST:PORT or tls://HOST:PORT")
    return url


def security(server: str, credentials: str | Path | None) -> ssl.SSLContext | None:
    """Return what a connection to a server needs: nothing for nats://, the credential for tls://.

    A credential is one file: the private key, its certificate, and the certificate of the authority that signed it.
    """
    if server.startswith("nats://"):
        if credentials is not None:
            raise InvalidInput(f"credentials are of no use with {server}: write tls:// to be known and encrypted")
        return None
    if credentials is None:
        raise InvalidInput(f"{server} asks for a credential: make one with `fedbandit keys new` and give its path")
    try:
        text = Path(credentials).read_text(encoding="ascii")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(credentials)
        context.load_verify_locations(cadata=_CERTIFICATE + text.rpartition(_CERTIFICATE)[2])
    except OSError as error:
        reason = error.strerror if not isinstance(error, ssl.SSLError) else "not a credential"
        raise InvalidInput(f"no credential can be read from {str(credentials)!r} ({reason}): give its path") from None
    except ValueError:
        raise InvalidInput(f"{str(credentials)!r} is not a credential: make one with `fedbandit keys new`") from None
    return context


def owner(credentials: str | Path) -> tuple[str, int] | None:
    """Return the federation and the number of the site that a credential is for; None where that cannot be told."""
    try:
        x509 = import_module("cryptography.x509")
    except ImportError:
        return None
    return named_in(x509.load_pem_x509_certificate(Path(credentials).read_bytes()))


def named_in(certificate: Any) -> tuple[str, int] | None:
    """Return the federation and the number of the site that a certificate is for; None where that cannot be told."""
    x509, subject = import_module("cryptography.x509"), certificate.subject
    told = [
        str(each.value)
        for kind in (x509.NameOID.COMMON_NAME, x509.NameOID.SERIAL_NUMBER)
        for each in subject.get_attributes_for_oid(kind)
    ]
    federation, _, name = told[0].partition(".") if told else ("", "", "")
    number = told[1] if len(told) > 1 else name  # without a roster, sites are named by their numbers
    return (federation, int(number)) if number.isascii() and number.isdecimal() else None


def expiry(credentials: str | Path) -> float | None:
    """Return when a credential expires, in seconds since 1970; None where the library to read it is not installed."""
    try:
        x509 = import_module("cryptography.x509")
    except ImportError:
        return None
    certificate = x509.load_pem_x509_certificate(Path(credentials).read_bytes())
    moment: float = certificate.not_valid_after_utc.timestamp()
    return moment

"""Certificates: an authority, and what it signs. Keys on the curve P-256, which every TLS library knows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from ipaddress import ip_address
from typing import TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import CertificatePublicKeyTypes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from fedbandit.service.keys.doorkeeper import Doorkeeper
from fedbandit.service.keys.files import DOORKEEPER

PublicKey: TypeAlias = CertificatePublicKeyTypes

AUTHORITY_DAYS = 3650
CLOCKS_DIFFER = timedelta(minutes=5)  # a certificate is valid at once where the clock is a little behind


@dataclass(frozen=True)
class Authority:
    """Whoever has its key can make credentials."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @classmethod
    def read(cls, certificate: bytes, key: bytes) -> Authority:
        """Read the authority from its two files, or raise ValueError."""
        return cls(x509.load_pem_x509_certificate(certificate), read_key(key))

    @property
    def text(self) -> bytes:
        """Return the certificate as text."""
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def secret(self) -> bytes:
        """Return the key as text."""
        return key_text(self.key)

    @property
    def doorkeeper(self) -> Doorkeeper:
        """Return what signs the answers to a broker that asks whom it may let in: its key follows from this one."""
        number = self.key.private_numbers().private_value.to_bytes(32, "big")
        return Doorkeeper(HKDF(hashes.SHA256(), 32, None, b"fedbandit doorkeeper").derive(number))

    def issue(self, name: str, until: datetime, hosts: tuple[str, ...] = ()) -> bytes:
        """Return a credential: a new key, its certificate and that of the authority; with hosts, a broker's.

        A broker's begins with a line that names the doorkeeper, whose answers it believes.
        """
        key = new_key()
        certificate = self._certificate(_named(name), key.public_key(), until, hosts)
        head = f"{DOORKEEPER}{self.doorkeeper.name}\n".encode() if hosts else b""
        return head + key_text(key) + certificate + self.text

    def sign(self, request: x509.CertificateSigningRequest, name: str, number: int, until: datetime) -> bytes:
        """Return the certificate of a site, for the key of its request and with the name that it was given."""
        return self._certificate(_named(name, number), request.public_key(), until)

    def _certificate(self, subject: x509.Name, key: PublicKey, until: datetime, hosts: tuple[str, ...] = ()) -> bytes:
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH]
        if hosts:  # a broker comes to the others of its cluster as a client
            usages.append(ExtendedKeyUsageOID.SERVER_AUTH)
        begin = min(datetime.now(UTC), until) - CLOCKS_DIFFER
        builder = _builder(subject, self.certificate.subject, key, begin, until)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = builder.add_extension(issuer, critical=False)
        if hosts:
            names = x509.SubjectAlternativeName([_host(each) for each in hosts])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self.key, hashes.SHA256()).public_bytes(Encoding.PEM)


def new_key() -> ec.EllipticCurvePrivateKey:
    """Make a private key."""
    return ec.generate_private_key(ec.SECP256R1())


def read_key(text: bytes) -> ec.EllipticCurvePrivateKey:
    """Read a private key, or raise ValueError."""
    key = load_pem_private_key(text, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError("its key is of another kind")
    return key


def request_for(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Return what a site sends to have a certificate for its key; whoever signs gives the name."""
    return x509.CertificateSigningRequestBuilder(_named("site")).sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)


def read_request(text: bytes) -> x509.CertificateSigningRequest:
    """Read the request of a site that has the private key, or raise ValueError."""
    request = x509.load_pem_x509_csr(text)
    key = request.public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        raise ValueError("its key is of another kind")
    if not request.is_signature_valid:
        raise ValueError("it is not signed with its key")
    return request


def key_digest(request: x509.CertificateSigningRequest) -> str:
    """Return what tells the key of a request from all others."""
    key = request.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return sha256(key).hexdigest()


def new_authority() -> Authority:
    """Make an authority."""
    key, now = new_key(), datetime.now(UTC)
    name = _named("fedbandit authority")
    builder = _builder(name, name, key.public_key(), now - CLOCKS_DIFFER, now + timedelta(days=AUTHORITY_DAYS))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    identity = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    builder = builder.add_extension(identity, critical=False)
    signs = x509.KeyUsage(
        digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    return Authority(builder.add_extension(signs, critical=True).sign(key, hashes.SHA256()), key)


def _builder(
    name: x509.Name, issuer: x509.Name, key: PublicKey, begin: datetime, until: datetime
) -> x509.CertificateBuilder:
    return x509.CertificateBuilder(issuer, name, key, x509.random_serial_number(), begin, until)


def _named(name: str, number: int | None = None) -> x509.Name:
    told = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
    if number is not None:
        told.append(x509.NameAttribute(NameOID.SERIAL_NUMBER, str(number)))
    return x509.Name(told)


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def key_text(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Return a private key as text."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

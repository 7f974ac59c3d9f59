"""Certificates: an authority, and what it signs. Keys on the curve P-256, which every TLS library knows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

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
        secret = load_pem_private_key(key, password=None)
        if not isinstance(secret, ec.EllipticCurvePrivateKey):
            raise ValueError("its key is of another kind")
        return cls(x509.load_pem_x509_certificate(certificate), secret)

    @property
    def text(self) -> bytes:
        """Return the certificate as text."""
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def secret(self) -> bytes:
        """Return the key as text."""
        return _key_text(self.key)

    def issue(self, name: str, until: datetime, hosts: tuple[str, ...] = ()) -> bytes:
        """Return a credential: a new key, its certificate and that of the authority; with hosts, a server's."""
        key = ec.generate_private_key(ec.SECP256R1())
        usage = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
        begin = min(datetime.now(UTC), until) - CLOCKS_DIFFER
        builder = _builder(_named(name), self.certificate.subject, key, begin, until)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = builder.add_extension(issuer, critical=False)
        if hosts:
            names = x509.SubjectAlternativeName([_host(each) for each in hosts])
            builder = builder.add_extension(names, critical=False)
        certificate = builder.sign(self.key, hashes.SHA256())
        return _key_text(key) + certificate.public_bytes(Encoding.PEM) + self.text


def new_authority() -> Authority:
    """Make an authority."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = _named("fedbandit authority")
    builder = _builder(name, name, key, now - CLOCKS_DIFFER, now + timedelta(days=AUTHORITY_DAYS))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    identity = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    builder = builder.add_extension(identity, critical=False)
    signs = x509.KeyUsage(
        digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    return Authority(builder.add_extension(signs, critical=True).sign(key, hashes.SHA256()), key)


def _builder(
    name: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, begin: datetime, until: datetime
) -> x509.CertificateBuilder:
    return x509.CertificateBuilder(issuer, name, key.public_key(), x509.random_serial_number(), begin, until)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _key_text(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

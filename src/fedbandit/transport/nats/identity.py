"""How sites know each other where sums are aggregated securely: by the certificates with which they connect.

The certificate of a site names its federation and its number, and the federation's authority has signed it. What it
vouches for is an ECDSA signature with SHA-256, r and s in 32 bytes each, and after it the certificate.
"""

from __future__ import annotations

from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.transport.nats.address import named_in

_HEAD = b"fedbandit-secure-1|keys|"
_HALF = 32


class CertificateIdentity:
    """The identity of a site by its credential: one file with its key, its certificate and the authority's."""

    def __init__(self, credentials: str | Path, federation: str) -> None:
        """Read a credential; it must be that of a site of the federation."""
        text = Path(credentials).read_bytes()
        key = load_pem_private_key(text, password=None)
        own, *_, authority = x509.load_pem_x509_certificates(text)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise InvalidInput(f"{str(credentials)!r} has a key of another kind: make one with `fedbandit keys new`")
        self._key, self._own, self._authority = key, own.public_bytes(Encoding.DER), authority
        self._head = _HEAD + federation.encode() + b"|"
        self._federation = federation

    def sign(self, statement: bytes) -> bytes:
        """Return a signature of 64 bytes, and after it the certificate."""
        signature = decode_dss_signature(self._key.sign(self._head + statement, ec.ECDSA(SHA256())))
        return b"".join(part.to_bytes(_HALF, "big") for part in signature) + self._own

    def check(self, client: int, statement: bytes, vouched: bytes) -> None:
        """Raise ProtocolError unless a site of this federation and number has signed a statement."""
        try:
            certificate = x509.load_der_x509_certificate(_without_padding(vouched[2 * _HALF :]))
            certificate.verify_directly_issued_by(self._authority)
            key = certificate.public_key()
            if named_in(certificate) != (self._federation, client) or not isinstance(key, ec.EllipticCurvePublicKey):
                raise ValueError("it is another site's")
            parts = (int.from_bytes(vouched[at : at + _HALF], "big") for at in (0, _HALF))
            key.verify(encode_dss_signature(*parts), self._head + statement, ec.ECDSA(SHA256()))
        except (ValueError, TypeError, InvalidSignature):
            raise ProtocolError(f"the keys of site {client} are not signed by its certificate") from None


def _without_padding(data: bytes) -> bytes:
    """Return a certificate without what fills up its field: it says itself how long it is."""
    return data[: 4 + int.from_bytes(data[2:4], "big")] if data[:2] == b"\x30\x82" else data

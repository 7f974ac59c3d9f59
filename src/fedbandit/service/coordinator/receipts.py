"""Receipts of what was forgotten: JSON that the coordinator's key has signed, where it has one.

    {"receipt": {...}, "certificate": "-----BEGIN ...", "signature": "..."}

The signature (ECDSA with SHA-256, in base64) is of the receipt as JSON with sorted keys and without spaces. The
certificate is the coordinator's, and is signed by the authority of the federation.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from fedbandit.core.errors import InvalidInput

_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"


def signed(receipt: dict[str, Any], credentials: Path | None) -> str:
    """Return a receipt as it is given away; without a credential (over nats://) nobody can sign it."""
    told: dict[str, Any] = {"receipt": receipt, "certificate": None, "signature": None}
    if credentials is not None:
        from cryptography.hazmat.primitives import hashes  # what only a receipt with a signature needs
        from cryptography.hazmat.primitives.asymmetric import ec

        from fedbandit.service.keys.certificates import read_key

        text = credentials.read_bytes()
        certificate = _CERTIFICATE + text.split(_CERTIFICATE)[1]
        signature = read_key(text).sign(_bytes(receipt), ec.ECDSA(hashes.SHA256()))
        told |= {"certificate": certificate.decode(), "signature": base64.b64encode(signature).decode()}
    return json.dumps(told, indent=2) + "\n"


def verified(text: str, authority: Path) -> dict[str, Any]:
    """Return what a receipt tells, or raise InvalidInput if no coordinator of this authority (ca.pem) has signed it."""
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    from fedbandit.transport.nats.broker_settings import COORDINATOR

    try:
        told = json.loads(text)
        receipt: dict[str, Any] = told["receipt"]
        certificate = x509.load_pem_x509_certificate(told["certificate"].encode())
        certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(authority.read_bytes()))
        (name,) = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
        key = certificate.public_key()
        if name.value != COORDINATOR or not isinstance(key, ec.EllipticCurvePublicKey):
            raise ValueError("it is not a coordinator's")
        key.verify(base64.b64decode(told["signature"]), _bytes(receipt), ec.ECDSA(hashes.SHA256()))
    except (ValueError, KeyError, TypeError, AttributeError, InvalidSignature):
        raise InvalidInput(
            f"this receipt is not signed by a coordinator of {authority}: ask whoever runs it for another"
        ) from None
    return receipt


def _bytes(receipt: dict[str, Any]) -> bytes:
    return json.dumps(receipt, sort_keys=True, separators=(",", ":")).encode()

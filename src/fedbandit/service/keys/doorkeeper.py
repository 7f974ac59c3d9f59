"""What a broker asks before it lets anybody in, and the signed answer that it believes (the auth callout of NATS).

The broker passes on the certificate that it has checked; the answer names the account, what may be said and heard
there, and until when. Questions and answers are JSON, signed with Ed25519, in the layout of NATS:
`head.claims.signature`.
"""

from __future__ import annotations

import json
import time
from base64 import b32encode, urlsafe_b64decode, urlsafe_b64encode
from binascii import crc_hqx
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID

_ACCOUNT = bytes([0])  # a public key of NATS begins with its kind


@dataclass(frozen=True)
class Question:
    """Who stands at the door."""

    server: str
    user: str  # a name for this connection, made up by the broker
    certificate: x509.Certificate

    @classmethod
    def read(cls, data: bytes) -> Question:
        """Read what a broker asks, or raise ValueError."""
        try:
            claims = data.split(b".")[1]
            asked = json.loads(urlsafe_b64decode(claims + b"=" * (-len(claims) % 4)))["nats"]
            chain = asked["client_tls"]["verified_chains"][0]
            return cls(asked["server_id"]["id"], asked["user_nkey"], x509.load_pem_x509_certificate(chain[0].encode()))
        except (IndexError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"the broker asks something that is not understood ({error!r})") from None

    @property
    def name(self) -> str:
        """Return the name in the certificate."""
        return str(self.certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)

    @property
    def until(self) -> float:
        """Return when the certificate expires."""
        return self.certificate.not_valid_after_utc.timestamp()


@dataclass(frozen=True)
class Admission:
    """What somebody who is let in may do."""

    account: str
    publish: list[str]
    subscribe: list[str]
    most_subscriptions: int


class Doorkeeper:
    """Signs answers.

    >>> Doorkeeper(bytes(32)).name
    'AA5WUJ54Z23KILLCUOUNAKTPBVZWKMQVO4O6EQ5GHLAERIMLLHNCS47C'
    """

    def __init__(self, seed: bytes) -> None:
        """Take 32 secret bytes."""
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        body = _ACCOUNT + self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.name = b32encode(body + crc_hqx(body, 0).to_bytes(2, "little")).decode().rstrip("=")

    def admit(self, question: Question, admission: Admission) -> bytes:
        """Return the answer that lets somebody in, until the certificate expires."""
        permissions = {
            "pub": {"allow": admission.publish}, "sub": {"allow": admission.subscribe},
            "subs": admission.most_subscriptions, "data": -1, "payload": -1, "type": "user", "version": 2,
        }  # fmt: skip
        user = self._signed(
            aud=admission.account, sub=question.user, name=question.name, exp=int(question.until), nats=permissions
        )
        return self._answer(question, jwt=user)

    def refuse(self, question: Question, reason: str) -> bytes:
        """Return the answer that lets nobody in; the broker logs the reason."""
        return self._answer(question, error=reason)

    def _answer(self, question: Question, **told: str) -> bytes:
        content = {**told, "type": "authorization_response", "version": 2}
        return self._signed(aud=question.server, sub=question.user, nats=content).encode()

    def _signed(self, **claims: Any) -> str:
        claims = {**claims, "iss": self.name, "iat": int(time.time())}
        claims["jti"] = b32encode(sha256(json.dumps(claims).encode()).digest()).decode().rstrip("=")
        head = _text(json.dumps({"typ": "JWT", "alg": "ed25519-nkey"}).encode())
        content = f"{head}.{_text(json.dumps(claims).encode())}"
        return f"{content}.{_text(self._key.sign(content.encode()))}"


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")

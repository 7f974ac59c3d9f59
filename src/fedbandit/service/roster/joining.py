"""How a site joins: its private key is made here and stays here; the coordinator signs the certificate.

The key is on the disk before it is told to anybody. Whatever ends in between, joining again with the same token asks
for the same key, and gets the same certificate.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from fedbandit.core.errors import InvalidInput
from fedbandit.service.keys.certificates import key_text, new_key, read_key, request_for
from fedbandit.service.keys.files import Keys, write_secret
from fedbandit.service.roster.asking import NobodyThere, as_file, ask
from fedbandit.service.roster.token import Invitation
from fedbandit.transport.link import LinkRefused
from fedbandit.transport.nats.subjects import Subjects


@dataclass(frozen=True)
class Joined:
    """What has come of it."""

    credential: Path
    federation: str
    name: str
    number: int
    until: datetime
    address: str  # of the federation


def join(token: str, folder: Path) -> Joined:
    """Join the federation to which a token invites; the credential is a new file in a folder."""
    invitation = Invitation.read(token)
    if time.time() >= invitation.until:
        ended = datetime.fromtimestamp(invitation.until, UTC)
        raise InvalidInput(f"this token has expired ({ended:%Y-%m-%d %H:%M} UTC): ask for a new invitation")
    federation = invitation.federation
    path = Keys(folder).path(f"{federation}.{invitation.name}")
    if path.exists():
        raise InvalidInput(f"{path} is there already: move it away, or give another --folder")
    kept = path.with_suffix(".key")
    is_new = not kept.exists()
    key = _own_key(kept)
    try:
        answer = _asked(invitation, request_for(key))
    except NobodyThere:
        raise
    except InvalidInput:
        if is_new:  # nobody has signed it, and nobody will
            kept.unlink()
        raise
    certificate = _checked(str(answer["certificate"]), key, invitation)
    content = key_text(key) + certificate.public_bytes(Encoding.PEM) + invitation.authority.public_bytes(Encoding.PEM)
    made = path.with_suffix(".new")
    write_secret(made, content)
    made.replace(path)
    kept.unlink()
    number, until = int(answer["number"]), certificate.not_valid_after_utc
    return Joined(path, federation, invitation.name, number, until, f"{invitation.broker}/{federation}")


def _asked(invitation: Invitation, request: bytes) -> dict[str, Any]:
    """Return what the coordinator answers to a request for a certificate."""
    subjects, token = Subjects(invitation.federation), invitation.token
    with as_file(invitation.credential) as credential:
        try:
            return ask(invitation.broker, credential, subjects.joining(token), request, subjects.joining_inbox(token))
        except LinkRefused:
            raise InvalidInput(
                f"the broker at {invitation.broker} does not let this token in: it was withdrawn, its site was removed "
                "or revoked, or the broker is another federation's; ask for a new invitation"
            ) from None


def _own_key(path: Path) -> ec.EllipticCurvePrivateKey:
    """Return the key with which it was tried before, or a new one."""
    try:
        if path.exists():
            return read_key(path.read_bytes())
        path.parent.mkdir(parents=True, exist_ok=True)
        key = new_key()
        write_secret(path, key_text(key))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the key of this site cannot be kept in {path} ({error}): give another --folder") from None
    return key


def _checked(text: str, key: ec.EllipticCurvePrivateKey, invitation: Invitation) -> x509.Certificate:
    """Return the certificate that came, if it is one of the authority that invited, for our key."""
    try:
        certificate = x509.load_pem_x509_certificate(text.encode())
        certificate.verify_directly_issued_by(invitation.authority)
        is_ours = certificate.public_key() == key.public_key()
    except (ValueError, TypeError, InvalidSignature):
        is_ours = False
    if not is_ours:
        raise InvalidInput("what came is not a certificate for the key of this site: ask for a new invitation")
    return certificate

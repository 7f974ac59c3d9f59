"""Keys that two clients have together, and the masks that follow from them; all of it from `cryptography`.

    pair seed = HKDF(X25519(mask keys of i and j), "..|pair|" + aggregation + <u32 min, u32 max>)
    self seed = HKDF(seed of i, "..|self|" + aggregation + <u32 i>)
    mask      = the key stream of ChaCha20 under such a seed, as little-endian words
    y_i       = x_i + self_i + sum over j > i of pair_ij - sum over j < i of pair_ij

HKDF is that of SHA-256, without salt, for 32 bytes. `aggregation` names the one sum that keys are for.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from fedbandit.core.errors import ProtocolError
from fedbandit.secure.ring import Words

HEAD = "fedbandit-secure-1"
KEY_BYTES = 32
_START = bytes(16)  # of ChaCha20: counter and nonce; each seed is used once
_NONCE = bytes(12)  # of a parcel: each key is used once


def public(key: bytes) -> bytes:
    """Return the public half of a key.

    >>> public(bytes(32 * [1])).hex()[:16]
    'a4e09292b651c278'
    """
    return X25519PrivateKey.from_private_bytes(key).public_key().public_bytes_raw()


def check_keys(keys: bytes) -> None:
    """Refuse public keys, one after the other, of which one has nothing secret together with anybody's.

    >>> check_keys(public(bytes(32 * [1])))
    """
    for at in range(0, len(keys), KEY_BYTES):
        _agreed(bytes(KEY_BYTES), keys[at : at + KEY_BYTES])


def pair_seed(key: bytes, other: bytes, aggregation: str, one: int, two: int) -> bytes:
    """Return what two clients have together, from the private key of one and the public key of the other."""
    return _derived(_agreed(key, other), "pair", aggregation, min(one, two), max(one, two))


def self_seed(seed: bytes, aggregation: str, client: int) -> bytes:
    """Return what the mask that a client shares with nobody is made from."""
    return _derived(seed, "self", aggregation, client)


def mask(seed: bytes, length: int) -> Words:
    """Return so many words that nobody can tell from random ones without the seed."""
    return np.frombuffer(stream(seed, 8 * length), dtype="<u8").astype(np.uint64)


def stream(seed: bytes, length: int) -> bytes:
    """Return so many bytes of the key stream under a seed."""
    return Cipher(ChaCha20(seed, _START), mode=None).encryptor().update(bytes(length))


def expanded(entropy: bytes, aggregation: str, purpose: str, length: int) -> bytes:
    """Return so many random bytes for a purpose, from 32 that were drawn."""
    return stream(_derived(entropy, purpose, aggregation), length)


def pair_masks(key: bytes, others: Mapping[int, bytes], aggregation: str, client: int, length: int) -> Words:
    """Return what a client adds for others, whose public keys are given: those before it add the same with less."""
    total = np.zeros(length, dtype=np.uint64)
    for other, theirs in others.items():
        if other != client:
            words = mask(pair_seed(key, theirs, aggregation, client, other), length)
            total = total + words if other > client else total - words
    return total


def sealed(key: bytes, theirs: bytes, aggregation: str, sender: int, to: int, content: bytes) -> bytes:
    """Return a parcel that only its recipient can open, from the sender's private and the recipient's public key."""
    label = _label(aggregation, sender, to)
    return _cipher(key, theirs, aggregation, sender, to).encrypt(_NONCE, content, label)


def opened(key: bytes, theirs: bytes, aggregation: str, sender: int, to: int, parcel: bytes) -> bytes | None:
    """Return what a parcel holds, from the recipient's private and the sender's public key; None if it is no such."""
    try:
        cipher = _cipher(key, theirs, aggregation, sender, to)
        return cipher.decrypt(_NONCE, parcel, _label(aggregation, sender, to))
    except (InvalidTag, ProtocolError):
        return None


def _cipher(key: bytes, theirs: bytes, aggregation: str, sender: int, to: int) -> ChaCha20Poly1305:
    """Return the cipher of one direction: two parcels under one key and nonce would tell their difference."""
    return ChaCha20Poly1305(_derived(_agreed(key, theirs), "channel", aggregation, sender, to))


def _agreed(key: bytes, theirs: bytes) -> bytes:
    try:
        return X25519PrivateKey.from_private_bytes(key).exchange(X25519PublicKey.from_public_bytes(theirs))
    except ValueError:  # a point of small order, which no honest client has
        raise ProtocolError(f"{theirs.hex()} is not a public key that anybody can have") from None


def _label(aggregation: str, *clients: int) -> bytes:
    return aggregation.encode() + struct.pack(f"<{len(clients)}I", *clients)


def _derived(secret: bytes, purpose: str, aggregation: str, *clients: int) -> bytes:
    info = f"{HEAD}|{purpose}|".encode() + _label(aggregation, *clients)
    return HKDF(SHA256(), KEY_BYTES, None, info).derive(secret)

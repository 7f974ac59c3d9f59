"""Secrets in shares (Shamir 1979), over the field of 2^521 - 1 elements: any t of them give the secret, fewer nothing.

Client j has the value at the point j + 1 of a polynomial of degree t - 1, whose value at 0 is the secret. A secret is
32 bytes, far less than an element of the field: shares that do not belong together give, but for a chance of 2^-265,
an element that is none, so that they are noticed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import combinations, islice

PRIME = (1 << 521) - 1
SECRET_BYTES = 32
SHARE_BYTES = 66
_DRAWN_BYTES = 74  # of a coefficient: so many more than the field needs that none is more likely than others
_MOST_TRIES = 100


def drawn_bytes(threshold: int) -> int:
    """Return how many random bytes the shares of one secret take."""
    return _DRAWN_BYTES * (threshold - 1)


def shares_of(secret: bytes, drawn: bytes, threshold: int, clients: Iterable[int]) -> dict[int, bytes]:
    """Return the shares of clients, such that so many of them give the secret, from random bytes.

    >>> shares = shares_of(bytes(32 * [7]), bytes(range(148)), 3, [0, 4, 5, 9])
    >>> del shares[4]
    >>> joined(shares, 3) == bytes(32 * [7])
    True
    """
    parts = (drawn[at : at + _DRAWN_BYTES] for at in range(0, drawn_bytes(threshold), _DRAWN_BYTES))
    polynomial = [int.from_bytes(secret, "big"), *(int.from_bytes(part, "big") % PRIME for part in parts)]
    return {client: _value(polynomial, client + 1).to_bytes(SHARE_BYTES, "big") for client in clients}


def joined(shares: Mapping[int, bytes], threshold: int) -> bytes | None:
    """Return the secret of shares by client; None if there are too few, or no so many that belong together.

    Where a client has made up its share, others than its give the secret: so many choices of them are tried.
    """
    clients = sorted(shares)
    if len(clients) < threshold:
        return None
    for chosen in islice(combinations(clients, threshold), _MOST_TRIES):
        secret = sum(
            weight * int.from_bytes(shares[client], "big")
            for client, weight in zip(chosen, _weights(chosen), strict=True)
        )
        if secret % PRIME < 1 << 8 * SECRET_BYTES:
            return (secret % PRIME).to_bytes(SECRET_BYTES, "big")
    return None


def _value(polynomial: list[int], point: int) -> int:
    value = 0
    for each in reversed(polynomial):
        value = (value * point + each) % PRIME
    return value


@lru_cache(maxsize=2 * _MOST_TRIES)
def _weights(clients: tuple[int, ...]) -> list[int]:
    """Return by what the values at the points of clients are multiplied to give that at 0 (Lagrange)."""
    found = []
    for client in clients:
        over = under = 1
        for other in clients:
            if other != client:
                over = over * (other + 1) % PRIME
                under = under * (other - client) % PRIME
        found.append(over * pow(under, -1, PRIME) % PRIME)
    return found

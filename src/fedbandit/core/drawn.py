"""What a site draws for a download that it answers with keys of its own, and who vouches for these.

Sides draw nothing themselves: secret bytes arrive with the download, and are in the site's journal before anything that
follows from them leaves. A signature may differ each time that it is made, so it is kept there too.
"""

from __future__ import annotations

from typing import Protocol


class Identity(Protocol):
    """By what the sites of a federation know each other: each signs, and knows the signatures of all others."""

    def sign(self, statement: bytes) -> bytes:
        """Return a signature of 64 bytes, and after it what others need to check it."""

    def check(self, client: int, statement: bytes, vouched: bytes) -> None:
        """Raise ProtocolError unless a client has signed a statement; `vouched` is what its `sign` has returned."""


class Drawn:
    """Random bytes for the answer to one download, and the signature that was made for it.

    >>> drawn = Drawn(bytes(128), b"keys", b"signed before")
    >>> drawn.vouch(b"keys"), drawn.vouch(b"other keys")
    (b'signed before', b'')
    """

    def __init__(
        self, secret: bytes, statement: bytes = b"", vouched: bytes = b"", identity: Identity | None = None
    ) -> None:
        """Take the bytes, a statement that was signed before with its signature, and who signs others."""
        self.secret = secret
        self.statement = statement
        self.vouched = vouched
        self._identity = identity

    def vouch(self, statement: bytes) -> bytes:
        """Return the signature of a statement, and what others need to check it; nothing if nobody can sign it."""
        if statement != self.statement:
            self.statement = statement
            self.vouched = b"" if self._identity is None else self._identity.sign(statement)
        return self.vouched

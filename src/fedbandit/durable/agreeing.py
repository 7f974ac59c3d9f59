"""What a journal says that its federation has agreed on, held against what it is opened with.

Whoever opens a journal may give the charter that it has now, or any that it had before: a program, or a coordinator's
file, need not be edited at every change. The journal's last one holds.
"""

from __future__ import annotations

from collections.abc import Iterable

from fedbandit.core.errors import InvalidInput
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.revisions import Agreed


def agreed_in(text: str, given: Charter, place: str) -> Agreed:
    """Return what a text in a journal stands for; refuse one that this version knows nothing of."""
    try:
        return Agreed.from_text(text)
    except InvalidInput:
        given.require(text, place)
        raise


def require_had(agreed: Agreed, given: Charter, place: str, others: Iterable[int] = ()) -> None:
    """Refuse to open a journal with a charter that it never had, and whose fingerprint is none of some others."""
    if not agreed.has_had(given) and given.fingerprint not in others:
        given.require(agreed.charter.text, place)

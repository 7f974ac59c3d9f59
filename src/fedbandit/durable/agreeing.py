"""What a journal says that its federation has agreed on, held against what it is opened with.

Whoever opens a journal may give the charter that it has now, or any that it had before: a program, or a coordinator's
file, need not be edited at every change. The journal's last one holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fedbandit.core.errors import InvalidInput
from fedbandit.core.smallest_upload import has_smallest_upload, usual_smallest_upload
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
    if not (agreed.has_had(given) or _had_smaller_uploads(agreed, given)) and given.fingerprint not in others:
        given.require(agreed.charter.text, place)


def _had_smaller_uploads(agreed: Agreed, given: Charter) -> bool:
    """Tell whether they differ only because the federation began with smallest_upload = 1, before the default rose."""
    algorithm = given.algorithm
    if not has_smallest_upload(type(algorithm)):
        return False
    is_usual = algorithm.smallest_upload == usual_smallest_upload(given.setting.dimension)
    smaller = type(algorithm).from_values({**algorithm.values(), "smallest_upload": 1})
    return is_usual and agreed.has_had(replace(given, algorithm=smaller))

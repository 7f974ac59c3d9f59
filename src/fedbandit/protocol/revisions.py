"""Revisions: how what a federation has agreed on changes while it runs, and how nodes know which of them has which.

A federation begins with a charter. Each change makes a new revision of it, which the coordinator writes to its journal
and tells its sites; each site writes it to its store and has it from then on. A revision is known by one number:

    how many there were before it 16 bits | a digest of it and of the one before it 48 bits

The first charter has 0. So of two revisions of one federation the later has the greater number, and a change that is
made again, after a coordinator lost it with its journal, has the number that it had before.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, NamedTuple

from fedbandit.core.errors import InvalidInput
from fedbandit.protocol.charter import Charter

_DIGEST_BITS = 48


class Former(NamedTuple):
    """A charter that a federation has had, as a site that has it introduces itself."""

    revision: int
    fingerprint: int
    features: int


class Form(NamedTuple):
    """What sums look like from a revision on: see `protocol.forms`."""

    revision: int
    charter: str  # as it was then
    places: tuple[int, ...] = ()  # of each feature, where it stood in the form before; -1: it is new


@dataclass(frozen=True)
class Agreed:
    """A charter, and the revisions that led to it.

    >>> from fedbandit.core.algorithm import Setting
    >>> first = Agreed(Charter.named("async-linucb", Setting(clients=3, arms=2, dimension=4, horizon=100)))
    >>> second = first.next(Charter.named("async-linucb", first.charter.setting, upload_threshold=3.0))
    >>> second.count, second.follows(first), first.follows(second), Agreed.from_text(second.text) == second
    (1, True, False, True)
    """

    charter: Charter
    revision: int = 0
    former: tuple[Former, ...] = ()
    forms: tuple[Form, ...] = ()  # none: there was but one
    least_upload: int = 0  # the least `smallest_upload` of all revisions, after the first

    @property
    def count(self) -> int:
        """Return how many revisions there were before this one."""
        return count_of(self.revision)

    @property
    def smallest_upload(self) -> int:
        """Return what uploads rest on at least: a site that has yet to hear of a change goes by what was before it."""
        return self.least_upload or self.charter.algorithm.smallest_upload

    @property
    def as_told(self) -> Former:
        """Return what a site with this revision says of it when it asks."""
        charter = self.charter
        return Former(self.revision, charter.fingerprint, int(charter.features or "0", 16))

    def next(self, charter: Charter, beside: str = "", places: tuple[int, ...] | None = None) -> Agreed:
        """Return the next revision; `beside` is what changes with it and is none of the sites' business.

        With `places` of features it begins a new form.
        """
        content = f"{self.revision} {charter.text} {beside} {places}".encode()
        digest = int.from_bytes(blake2b(content, digest_size=_DIGEST_BITS // 8).digest(), "little")
        revision, forms = (self.count + 1 << _DIGEST_BITS) + digest, self.forms
        if places is not None:
            forms = (*(forms or (Form(0, self.charter.text),)), Form(revision, charter.text, places))
        least = min(self.smallest_upload, charter.algorithm.smallest_upload)
        return Agreed(charter, revision, (*self.former, self.as_told), forms, least)

    def follows(self, other: Agreed) -> bool:
        """Tell whether this is a later revision of what another was agreed on."""
        return other.as_told in self.former

    def has_charter_of(self, other: Agreed) -> bool:
        """Tell whether another has this charter, but has not heard yet that it is a revision."""
        return bool(self.revision) and not other.revision and other.charter == self.charter

    def lost_by(self, other: Agreed) -> str:
        """Return what to tell a site that knows this revision when its coordinator has lost it; "" if that has not."""
        if self.count <= other.count:
            return ""
        return (
            f"the charter was changed {self.count} times as far as this site has heard and {other.count} times in the "
            "federation, whose coordinator has lost a change: make it again; what the site learns waits here until then"
        )

    def has_had(self, charter: Charter) -> bool:
        """Tell whether a charter is this one, or one of those before it."""
        told = Agreed(charter).as_told
        return charter == self.charter or any(each[1:] == told[1:] for each in self.former)

    @property
    def text(self) -> str:
        """Return it as JSON; before the first change it is the charter's text."""
        if not self.revision:
            return self.charter.text
        values = {**json.loads(self.charter.text), "revision": self.revision, "former": self.former}
        if self.forms:
            values["forms"] = self.forms
        if self.least_upload > 1:
            values["least_upload"] = self.least_upload
        return json.dumps(values, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Agreed:
        """Return what a text stands for: a charter alone, or one with its revisions."""
        charter = Charter.from_text(text)
        values: dict[str, Any] = json.loads(text)
        try:
            former = tuple(Former(*map(int, each)) for each in values.get("former", ()))
            forms = tuple(_form(*each) for each in values.get("forms", ()))
            revision = int(values.get("revision", 0))
            return cls(charter, revision, former, forms, int(values.get("least_upload", 1)) if revision else 0)
        except (TypeError, ValueError):
            raise InvalidInput(
                f"{text[:60]!r} has revisions that cannot be read: upgrade fedbandit here, if the sender's is newer"
            ) from None

    def with_charter(self, charter: Charter) -> Agreed:
        """Return the same revision with its charter told in another way, as with limits."""
        return replace(self, charter=charter)


def _form(revision: int, charter: str, places: list[int]) -> Form:
    return Form(int(revision), str(charter), tuple(map(int, places)))


def count_of(revision: int) -> int:
    """Return how many revisions there were before one.

    >>> count_of(0)
    0
    """
    return revision >> _DIGEST_BITS

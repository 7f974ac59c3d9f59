"""Forms: what sums look like while features are added and removed, and how what was sent in one is read in another.

A change of the features, or of the ridge, begins a new form, named by the revision that began it; the first is 0. Each
message says in which form it was sealed, and stays as it is: in an outbox, at the broker, in a postbox. Whoever takes
in one of an earlier form carries it over to the present, step by step, as its side says: a new feature adds zeros, one
that is gone takes its row and its column along. So nothing has to be sent again because the features have changed, and
what comes twice is known by its number as ever. A message of a form that is not known here waits until its revision is.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from fedbandit.core.around import innermost
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.interfaces import Federation
from fedbandit.core.messages import Message, Upload
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.revisions import Agreed, Form
from fedbandit.protocol.schema import Schema

KEPT = 64  # charters of which both sides are kept, of all federations


@lru_cache(KEPT)
def _charter(text: str) -> Charter:
    return Charter.from_text(text)


@lru_cache(KEPT)
def _sides(text: str) -> Federation:
    return _charter(text).build()


class Forms:
    """The forms that the messages of a federation have had.

    >>> from fedbandit.core.algorithm import Setting
    >>> forms = Forms(Agreed(Charter.named("async-linucb", Setting(clients=3, arms=2, dimension=4, horizon=100))))
    >>> forms.present, forms.knows(0), forms.knows(7)
    (0, True, False)
    """

    def __init__(self, agreed: Agreed) -> None:
        """Take what the federation has agreed on, with its revisions."""
        self._forms: tuple[Form, ...] = agreed.forms or (Form(0, agreed.charter.text),)
        self._order = {each.revision: place for place, each in enumerate(self._forms)}
        self.present = self._forms[-1].revision

    def knows(self, form: int) -> bool:
        """Tell whether messages of a form can be read."""
        return form in self._order

    def schema(self, form: int, direction: type[Message]) -> Schema:
        """Return what messages of a form look like, to a server or to clients."""
        text = self._forms[self._order[form]].charter
        side = _sides(text).server if direction is Upload else _sides(text).clients
        return Schema.of(side, direction, _charter(text).setting)

    def most_bytes(self, direction: type[Message]) -> int:
        """Return how many bytes a message of any of the forms can have."""
        return max(self.schema(form, direction).most_bytes for form in self._order)

    def steps(self, form: int) -> list[tuple[Federation, Ints]]:
        """Return the forms after one, as sides, each with the places of its features in the form before."""
        later = self._forms[self._order[form] + 1 :]
        return [(_sides(each.charter), np.array(each.places, dtype=np.int64)) for each in later]

    def carried_over(self, message: Message, form: int) -> Message:
        """Return a message of a form as it is in the present one."""
        before = _sides(self._forms[self._order[form]].charter)
        for after, places in self.steps(form):
            if isinstance(message, Upload):
                message = after.server.carried_over(message, innermost(before.server), places)
            else:
                message = after.clients.carried_over(message, innermost(before.clients), places)
            before = after
        return message

    def fitted(self, vectors: Floats, form: int) -> Floats:
        """Return vectors of features, along the last axis, as they are in the present form: new features are 0."""
        for _, places in self.steps(form):
            longer = np.concatenate([vectors, np.zeros((*vectors.shape[:-1], 1))], axis=-1)
            vectors = np.ascontiguousarray(longer[..., places])
        return vectors

    def as_they_were(self, vectors: Floats, form: int) -> Floats:
        """Return vectors of the present form as they look to a site that knows no later form than the one given.

        Features that have come since are left out, and those that have gone are 0.
        """
        later = self._forms[self._order[form] :]
        for before, after in reversed(list(pairwise(later))):
            older = np.zeros((*vectors.shape[:-1], _charter(before.charter).setting.dimension))
            places = np.array(after.places, dtype=np.int64)
            older[..., places[places >= 0]] = vectors[..., places >= 0]
            vectors = older
        return vectors

    def are_mistaken(self) -> bool:
        """Tell whether vectors of an earlier form are as long as those of the present, and mean something else."""
        size = _charter(self._forms[-1].charter).setting.dimension
        earlier = [each.revision for each in self._forms if _charter(each.charter).setting.dimension == size]
        numbers = np.arange(1.0, size + 1.0)
        return any((self.fitted(numbers, form) != numbers).any() for form in earlier)

    def fitted_by_length(self, vectors: Floats) -> Floats:
        """Return vectors in the present form, read as the last form with vectors of that length; others unchanged.

        So a program that hands in what it always did goes on, whatever was added or removed meanwhile.
        """
        forms = [each for each in self._forms if _charter(each.charter).setting.dimension == vectors.shape[-1]]
        return self.fitted(vectors, forms[-1].revision) if forms else vectors

"""From the rows of a log to what a site learns from before its first decision."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.turns import Chosen
from fedbandit.protocol.charter import Charter
from fedbandit.site.offer import Offers

if TYPE_CHECKING:
    from fedbandit.features.features import Features
    from fedbandit.logs.log import Log


class Past(NamedTuple):
    """Decisions of the past, in the order of their times."""

    source: str  # tells it from any other
    offers: list[Floats]  # (1, K, d) what was on offer at each
    choice: Ints
    reward: Floats
    epoch: list[int]  # in which each was decided, where the federation forgets

    def row(self, number: int, *, learns_from_choice: bool) -> tuple[Floats, Ints]:
        """Return what a row is learnt from."""
        choice = self.choice[number : number + 1]
        return Chosen.of(self.offers[number], choice) if learns_from_choice else (self.offers[number], choice)


def past_of(log: Log, site: str | None, charter: Charter, offers: Offers, features: Features | None) -> Past:
    """Return the rows of one site, checked as if they were handed in now; the first that is wrong is named."""
    if charter.algorithm.duels or charter.algorithm.shares_context:
        raise InvalidInput(
            f"{charter.algorithm.id} does not learn from single arms, so a log cannot be its past: begin without one"
        )
    if charter.algorithm.hides_releases:
        raise InvalidInput(
            f"{charter.algorithm.id} cannot learn from a log, whose arms were chosen by what other rows taught: "
            "more than one observation would tell of each; begin without one"
        )
    log = _of_site(log, site)
    vectors = log.encode(None if log.vectors is not None else features)
    if vectors.shape[-1] != charter.setting.dimension:
        raise InvalidInput(
            f"the log has vectors of dimension {vectors.shape[-1]}, the site {charter.setting.dimension}: give the log "
            "of such a site, or one of values and the site's features"
        )
    there = log.offered >= 0
    found = []
    for number, row in enumerate(log.row.tolist()):
        try:
            found.append(offers.check.offer(vectors[number, there[number]]))
            offers.check.reward(float(log.reward[number]))
        except InvalidInput as error:
            raise InvalidInput(f"row {row} of the log: {error}") from None
    chosen = vectors[np.arange(len(log)), log.choice]
    source = sha256(b"".join(each.tobytes() for each in (chosen, log.choice, log.reward))).hexdigest()[:16]
    epochs = [0 if np.isnan(each) else charter.epoch_at(each) for each in log.time.tolist()]
    return Past(source, found, log.choice, log.reward, epochs)


def _of_site(log: Log, site: str | None) -> Log:
    names = [name for number, name in enumerate(log.sites) if (log.site == number).any()]
    if site is None and len(names) == 1:
        return log
    if site not in names:
        given = "it has rows of several sites" if site is None else f"it has no rows of {site!r}"
        raise InvalidInput(f"of the log, {given}: give site as one of {', '.join(names)}, whose past this is")
    return log.take(np.flatnonzero(log.site == log.sites.index(site)))

"""Durable nodes of any federation whose sums are aggregated securely, in rounds; some of them may fall silent."""

from __future__ import annotations

import numpy as np

import fedbandit as fb
from fedbandit.core.algorithm import Setting
from fedbandit.core.interfaces import Cadence
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.kernels.glm.kept_data import gram_of_each
from fedbandit.protocol.charter import Charter
from fedbandit.secure.parts import WHO
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind
from samples import pair
from samples.purses import KeyedIdentity

SITES, ARMS, DIMENSION, ROUNDS = 4, 3, 2, 100


class Rounds:
    """A coordinator and its sites, with features that are multiples of 1/16."""

    def __init__(self, name, secure=True, **parameters):
        more = {"smallest_cohort": 3} if secure else {}
        self.charter = Charter.named(name, Setting(SITES, ARMS, DIMENSION, ROUNDS), **parameters, **more)
        self.journal = MemoryJournal(keep_log=True)
        self.server = pair.open_server(self.charter, self.journal)
        self.sites = [pair.open_site(self.charter, number) for number in range(SITES)]
        for number, site in enumerate(self.sites):
            site.identity = KeyedIdentity(number)
        self.takes_turns = self.sites[0].life.side.cadence is Cadence.TURN
        self.duels = fb.algorithms[name].duels
        self.choices, self.vectors = [], []
        self.silent = set()
        self.kinds = set()
        self.now = 0.0

    @property
    def state(self):
        return self.server.node.state

    @property
    def within(self):
        return getattr(self.state, "within", self.state)

    def site_state(self, number):
        return self.sites[number].life.node.state

    def turn(self, number, round_):
        """One decision of a site, and what comes of it."""
        rng = np.random.default_rng([number, round_])
        arms = rng.integers(-8, 9, (1, ARMS, DIMENSION)) / 16
        name, decided = self.sites[number].choose(arms, pair.NO_LOTS)
        chosen = np.atleast_1d(decided.choices[0])
        self.choices.append(chosen.tolist())
        self.vectors.append(arms[0, chosen[0]] - (arms[0, chosen[1]] if self.duels else 0.0))
        self.sites[number].learn(name, float(rng.integers(0, 2)))

    def play(self, rounds, first=0, who=range(SITES)):
        """Let sites have turns; those that act in rounds exchange when all have had one, others after each."""
        for round_ in range(first, first + rounds):
            for number in who:
                self.turn(number, round_)
                if self.takes_turns:
                    self.exchange()
            self.exchange()

    def exchange(self, until=None):
        """Carry frames until all is quiet, or until the coordinator is about to send a message of which it holds."""
        for _ in range(5000):
            frames = [frame for number, site in enumerate(self.sites) if number not in self.silent
                      for frame in site.commit()]  # fmt: skip
            read = map(Frame.from_bytes, frames)
            self.kinds |= {type(decode(each.body)).kind for each in read if each.kind is Kind.UPLOAD}
            pair.to_server(self.server, frames)
            answers = self.server.commit()
            downloads = [Frame.from_bytes(frame) for _, frame in answers]
            said = [decode(each.body) for each in downloads if each.kind is Kind.DOWNLOAD]
            if until is not None and any(until(each) for each in said):
                return answers
            pair.to_sites(self.sites, [each for each in answers if each[0] not in self.silent])
            if not frames and not answers:
                return []
        raise AssertionError("the exchange does not end")

    def carry(self, answers):
        """Bring downloads to those who are not silent, and go on."""
        pair.to_sites(self.sites, [each for each in answers if each[0] not in self.silent])
        self.exchange()

    def deadline(self):
        self.now += 1.0
        left_out = self.server.deadline(self.now).tolist()
        self.exchange()
        return left_out

    def come_back(self):
        self.silent.clear()
        pair.asking(self.server, self.sites)

    @property
    def outer_products(self):
        """The sum over all that was observed of x x^T, or of z z^T."""
        return sum(np.outer(each, each) for each in self.vectors)


def total_gram(run):
    """What the coordinator of a generalised linear federation knows, and what is still with the sites."""
    kept = [run.site_state(number).within for number in range(SITES)]
    held = sum(gram_of_each(each.kept, WHO, each.shared.called, each.kept.length)[0] for each in kept)
    return run.within.gram + run.state.pending + held

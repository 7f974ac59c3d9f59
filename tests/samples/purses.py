"""The smallest algorithm that can be aggregated: each site has a purse of numbers, and the server adds them up."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np

from fedbandit.core.drawn import Drawn
from fedbandit.core.errors import ProtocolError
from fedbandit.core.interfaces import Cadence, Clients, Outgoing, Server
from fedbandit.core.messages import Download, array
from fedbandit.secure.clients import SecureClients
from fedbandit.secure.member import Participation
from fedbandit.secure.messages import Ready, Result
from fedbandit.secure.parts import Parts
from fedbandit.secure.server import SecureServer
from fedbandit.wire import decode, encode

WORDS = 5
CERTIFICATE = 40


@dataclass(frozen=True)
class Treasure(Download, kind="test.treasure"):
    values: np.ndarray = array(shape=(WORDS,))


@dataclass
class Purse:
    values: np.ndarray = field(default_factory=lambda: np.zeros(WORDS))
    observations: int = 0
    told: list = field(default_factory=list)


class PurseClients(Clients):
    cadence = Cadence.TURN
    draws = 0
    kinds = (Treasure,)

    def start(self, clients):
        return Purse()

    def receive(self, state, to, message):
        state.told.append(message.values)
        return ()


class PurseServer(Server):
    def start(self, clients):
        return Purse()


class PurseParts(Parts):
    words = WORDS
    waits_for_all = False

    def take(self, side, cohort, question):
        purse = cohort.within
        taken = purse.values, purse.observations
        purse.values, purse.observations = np.zeros(WORDS), 0
        return taken

    def put_back(self, side, cohort, part, observations):
        cohort.within.values = cohort.within.values + part
        cohort.within.observations += observations

    def check_sum(self, side, state, total, observations, bounds):
        if total[0] < 0:
            raise ProtocolError("nobody has less than nothing")

    def merge(self, side, state, total, observations, empty):
        purse = state.within
        purse.values = purse.values + total
        purse.observations += sum(observations.values())
        return (Outgoing(np.arange(1), Treasure(purse.values)),)


class KeyedIdentity:
    """A signature that anybody in a test can check: no coordinator of it is hostile but those that are made so."""

    def __init__(self, number, federation="shops"):
        self.number, self.federation = number, federation

    def sign(self, statement):
        return self._of(self.number, statement) + f"site {self.number}".encode()

    def check(self, client, statement, vouched):
        if not hmac.compare_digest(vouched[:64], self._of(client, statement)):
            raise ProtocolError(f"the keys of site {client} are not signed by it")

    def _of(self, number, statement):
        return hmac.new(f"{self.federation} {number}".encode(), statement, hashlib.sha512).digest()


class Bank:
    """A server and its sites, joined by a wire on which the tests decide what arrives."""

    def __init__(self, sites=6, seed=1, smallest_cohort=3, server=SecureServer):
        self.rng = np.random.default_rng(seed)
        sizes = {"N": sites, "words": WORDS, "certificate": CERTIFICATE, "body": len(encode(Treasure(np.zeros(WORDS))))}
        self.server = server(PurseServer(), PurseParts(), smallest_cohort, sizes)
        self.state = self.server.start(sites)
        self.sites = [
            SecureClients(PurseClients(), PurseParts(), Participation(number, sites, smallest_cohort), sizes, decode)
            for number in range(sites)
        ]
        self.cohorts = [site.start(1) for site in self.sites]
        self.identities = [KeyedIdentity(number) for number in range(sites)]
        self.seen = []  # (sender, upload) that the server has taken in
        self.silent = set()  # sites that hear nothing
        self.late = set()  # sites whose answers come too late

    def fill(self, numbers=None):
        """Put multiples of 1/16 into purses; return what each has."""
        for number in range(len(self.sites)) if numbers is None else numbers:
            purse = self.cohorts[number].within
            purse.values = purse.values + self.rng.integers(0, 4096, WORDS) / 16
            purse.observations += 3
        return [cohort.within.values.copy() for cohort in self.cohorts]

    def upload(self, sender, message):
        """Let the server take in what a site sends, as it comes over a wire; return what it sends."""
        message = decode(encode(message))
        self.server.check(self.state, sender, message, None, 0)
        self.seen.append((sender, message))
        return list(self.server.receive(self.state, np.array([sender]), message))

    def download(self, to, message):
        """Let a site take in what the server sends; return what it answers."""
        message, site, cohort = decode(encode(message)), self.sites[to], self.cohorts[to]
        site.check(cohort, message, self.identities[to])
        drawn = Drawn(self.rng.bytes(128), identity=self.identities[to])
        return [each.message for each in site.receive_drawn(cohort, np.zeros(1, dtype=int), message, drawn)]

    def call(self):
        return self.upload(0, Ready())

    def deliver(self, outgoing):
        """Bring downloads to all who are not silent; return their answers, by site."""
        answers = []
        for each in outgoing:
            for to in each.clients.tolist():
                if to not in self.silent:
                    answers += [(to, message) for message in self.download(to, each.message)]
        return answers

    def step(self, outgoing):
        """Bring downloads to the sites and their answers to the server; without some, the deadline ends the step."""
        sent = []
        for sender, message in self.deliver(outgoing):
            sent += [] if sender in self.late else self.upload(sender, message)
        return sent or list(self.server.deadline(self.state))

    def run(self, losing=(), late=()):
        """Run one aggregation, in each of whose steps, which begins with a download, sites fall silent or late.

        When it is over, or nobody else can answer, all hear what they were sent last, and come back.
        """
        sent = self.call()
        for lost, slow, _ in zip_longest(losing, late, range(4), fillvalue=()):
            self.silent |= set(lost)
            self.late |= set(slow)
            answer = self.step(sent)
            missed = [(to, each.message) for each in sent for to in each.clients.tolist() if to in self.silent]
            sent = answer
            if not sent or isinstance(sent[0].message, Result):
                break
        self.silent.clear()
        self.late.clear()
        for to, message in [] if sent else missed:
            for late in self.download(to, message):
                sent += self.upload(to, late)
        self.deliver(sent)

    @property
    def total(self):
        """Return all that there is, wherever it is."""
        held = [cohort.within.values for cohort in self.cohorts]
        held += [cohort.member.part for cohort in self.cohorts if len(cohort.member.part)]
        return self.state.within.values + sum(held)


def reach(bank, kind):
    """Run an aggregation until sites have sent messages of a kind that the server has not got; return these."""
    outgoing = bank.call()
    while True:
        answers = bank.deliver(outgoing)
        if isinstance(answers[0][1], kind):
            return answers
        outgoing = [each for answer in answers for each in bank.upload(*answer)]

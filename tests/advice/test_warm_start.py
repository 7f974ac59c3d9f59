"""What a past changes: as if sites had stepped through it by hand, and told in words that follow from the numbers."""

from dataclasses import replace

import numpy as np
import pytest

from fedbandit.advice.frontier import interval_of
from fedbandit.advice.model.fitted import Rows, fit
from fedbandit.advice.model.worlds import drawn_world
from fedbandit.advice.trials import Candidate, Worlds, alone
from fedbandit.advice.warm_start import WarmStart, warm_start_of, with_past_of
from fedbandit.core.algorithm import algorithms
from fedbandit.protocol.ledger import Ledger
from fedbandit.simulation.by_hand import Client, Server
from fedbandit.simulation.in_process import simulate

SITES, ARMS, DIMENSION, ROWS, DRAWS = 3, 4, 3, 150, 2
SETTINGS = {
    "async-linucb": {"upload_threshold": 1.3, "download_threshold": 1.3},
    "lean-linucb": {"upload_threshold": 1.1, "download_threshold": 2.0},
    "sync-linucb": {"sync_threshold": 2.0},
    "local-linucb": {},
}


@pytest.fixture(scope="module")
def worlds():
    rng = np.random.default_rng(3)
    arms = rng.uniform(-0.5, 0.5, (ROWS, ARMS, DIMENSION))
    site, choice = rng.integers(SITES, size=ROWS), rng.integers(ARMS, size=ROWS)
    mean = arms[np.arange(ROWS), choice] @ [0.8, -0.4, 0.3]
    rows = Rows(site, arms, choice, mean + 0.2 * rng.standard_normal(ROWS))
    return Worlds(rows, fit(rows), lambda done, total: None)


def candidate(name):
    return Candidate(name, "", algorithms[name].from_values({"noise": 0.2, **SETTINGS[name]}))


class ByHand:
    """A federation whose envelopes are carried one by one."""

    def __init__(self, algorithm):
        size = {"dimension": DIMENSION, "clients": SITES, "arms": ARMS, "horizon": ROWS}
        self.clients = [Client(algorithm, number=number, **size) for number in range(SITES)]
        self.server, self.ledger = Server(algorithm, **size), Ledger()

    def carry(self, envelopes):
        waiting = list(envelopes)
        for each in waiting:
            self.ledger.record(each)
            if each.is_upload:
                waiting += self.server.receive(each)
            else:
                waiting += [answer for number in each.clients for answer in self.clients[number].receive(each)]

    def past(self, rows):
        for site in range(SITES):
            for row in np.flatnonzero(rows.site == site):
                self.clients[site].choose(rows.chosen[row][np.newaxis])
                self.carry(self.clients[site].learn(rows.reward[row]))
        return self.ledger.bytes

    def regret_in(self, turns):
        lost = 0.0
        for turn, number in enumerate(turns.client.tolist()):
            client, mean = self.clients[number], turns.outcomes.mean[turn]
            self.carry(client.ask())
            choice = client.choose(turns.features[turn])
            lost += mean.max() - mean[choice]
            self.carry(client.learn(turns.outcomes.payoff[turn, choice]))
        return lost


@pytest.mark.parametrize("name", SETTINGS)
def test_a_past_is_what_sites_learn_that_step_through_it_one_after_the_other(worlds, name):
    tried = worlds.try_all([candidate(name), alone(0.2)], DRAWS)
    found = warm_start_of(worlds, candidate(name), alone(0.2), tried)
    cold, warm, later = [], [], []
    for number in range(DRAWS):
        turns = drawn_world(worlds.rows, worlds.model, number).whole
        cold.append(ByHand(candidate(name).algorithm).regret_in(turns))
        literal = ByHand(candidate(name).algorithm)
        before = literal.past(worlds.rows)
        assert found.bytes == before
        warm.append(literal.regret_in(turns))
        later.append(literal.ledger.bytes - before)
    assert found.gain == pytest.approx(np.mean(cold) - np.mean(warm), abs=1e-9)
    assert found.bytes_later == pytest.approx(np.mean(later))
    assert found.draws == DRAWS


def test_it_is_compared_with_sites_alone_that_have_a_past_too(worlds):
    own, other = candidate("async-linucb"), candidate("local-linucb")
    tried = worlds.try_all([own, other], DRAWS)
    begun = [(each.algorithm, with_past_of(worlds.rows, each.algorithm)) for each in (own, other)]
    regret, _ = worlds.go_on(begun, DRAWS)
    found = warm_start_of(worlds, own, other, tried)
    assert found.beyond_alone == pytest.approx(float((regret[1] - regret[0]).mean()))
    assert found.beyond_alone_interval == pytest.approx(interval_of(regret[1] - regret[0]))
    of_alone = warm_start_of(worlds, other, other, tried)
    assert (of_alone.beyond_alone, of_alone.bytes, of_alone.bytes_later) == (0, 0, 0)


def test_a_federation_with_a_past_can_go_on_in_many_worlds(worlds):
    algorithm, world = candidate("async-linucb").algorithm, drawn_world(worlds.rows, worlds.model, 0)
    begun = with_past_of(worlds.rows, algorithm)
    once, again = (simulate(algorithm, world, ROWS, begun=begun)[0] for _ in range(2))
    assert once.choice.tolist() == again.choice.tolist()
    assert once.ledger.bytes == again.ledger.bytes


CHANGE = WarmStart(2.5, (1.0, 4.0), 1.5, (0.5, 2.5), 2000.0, 1000.0, 20)


def test_what_it_changes_is_told_in_a_sentence():
    assert CHANGE.sentence(helps=True) == (
        "warm start: had every site first learnt from its rows of this log, the same setting would have earned 2.5 "
        "more in the same time (in nine of ten draws 1 to 4), for 2 kB once; that is 1.5 more than every site alone "
        "with its own past (95 % interval 0.5 to 2.5)"
    )
    assert CHANGE.sentence(helps=False).endswith("(in nine of ten draws 1 to 4)")
    level = replace(CHANGE, beyond_alone_interval=(-0.5, 2.5))
    assert level.sentence(helps=True).endswith("so with that past federation buys nothing that can be told")
    worse = replace(CHANGE, gain=-3.0, beyond_alone=-2.0, beyond_alone_interval=(-3.0, -1.0))
    assert "would have earned 3 less in the same time" in worse.sentence(helps=True)
    assert worse.sentence(helps=True).endswith("so with that past let every site learn alone")

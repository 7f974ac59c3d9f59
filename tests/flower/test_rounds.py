"""A federation in Flower does what the simulator does, whatever happens to messages on the way."""

from __future__ import annotations

import numpy as np
import pytest

from contract.small_worlds import CLIENTS, NEEDS_JAX
from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.durable.site.client import DurableClient
from fedbandit.flower.plan import read_plan
from fedbandit.flower.rounds import Rounds, SitesSilent
from fedbandit.flower.site import FlowerSite, Request
from fedbandit.wire.state import encode_state
from flower.worlds import Application, federation, keys, simulated

ROUNDS = 8


class Post:
    """Carries requests to sites, each of which is bytes between two messages."""

    def __init__(self, plan, play, mishap=lambda round_, site: "", fresh=1000):
        self.plan, self.play, self.mishap = plan, play, mishap
        self.kept, self.fresh = {}, fresh

    def exchange(self, requests, seconds):
        answers = {}
        for site, request in requests.items():
            what = self.mishap(request.round, site)
            if what == "away":
                continue
            for _ in range(2 if what == "twice" else 1):
                frames = self.ask(site, request)
            if what != "answer lost":
                answers[site] = frames
        return answers

    def ask(self, site, request):
        node = FlowerSite(self.plan, site, self.kept.get(site), self.fresh)
        frames = node.answer(request, self.play, {})
        self.kept[site] = node.kept()
        return frames


def played(name, mishap=lambda round_, site: "", journal=None, fresh=1000, **more):
    """All rounds of a federation: what was chosen, and the server's side."""
    plan = read_plan(keys(federation(name, ROUNDS, **more)))
    choices = {}
    application = Application(name, ROUNDS, lambda round_, site, arm: choices.setdefault((round_, site), arm))
    rounds = Rounds(plan, journal or MemoryJournal(), Post(plan, application, mishap, fresh), clock=lambda: 1e9)
    rounds.play()
    return choices, rounds


def as_table(choices):
    return np.array([[choices[round_, site] for site in range(CLIENTS)] for round_ in range(ROUNDS)])


@pytest.mark.parametrize(
    "name",
    [
        "fedego-lasso",
        "fldb-ogd",
        "linear-ts",
        "sync-linucb",
        pytest.param("fedglb-ucb", marks=pytest.mark.slow),
        pytest.param("fedglb-ucb-1", marks=pytest.mark.slow),
        pytest.param("fldb-gd", marks=pytest.mark.slow),
    ],
)
def test_choices_messages_and_sums_are_those_of_the_simulator(name):
    choices, rounds = played(name)
    expected, ledger, server = simulated(name, ROUNDS)
    np.testing.assert_array_equal(as_table(choices), expected)
    assert encode_state(rounds.server.node.state) == encode_state(server.state)
    assert (rounds.server.ledger.messages, rounds.server.ledger.scalars) == (ledger.messages, ledger.scalars)


@NEEDS_JAX
@pytest.mark.slow
def test_networks_choose_as_in_the_simulator_and_their_sums_differ_by_rounding_alone():
    choices, rounds = played("fn-ucb")
    expected, ledger, server = simulated("fn-ucb", ROUNDS)
    np.testing.assert_array_equal(as_table(choices), expected)
    np.testing.assert_allclose(rounds.server.node.state.moment, server.state.moment, rtol=1e-5, atol=1e-6)
    assert rounds.server.ledger.messages == ledger.messages


def test_requests_that_come_twice_change_nothing():
    name = "fldb-ogd"
    choices, rounds = played(name, mishap=lambda round_, site: "twice")
    expected, ledger, server = simulated(name, ROUNDS)
    np.testing.assert_array_equal(as_table(choices), expected)
    assert encode_state(rounds.server.node.state) == encode_state(server.state)
    assert rounds.server.ledger.messages == ledger.messages


def test_the_uploads_of_an_answer_that_is_lost_come_with_the_next_one():
    lost = {(2, 1): "answer lost", (5, 1): "answer lost"}
    choices, rounds = played("fldb-ogd", mishap=lambda *at: lost.get(at, ""), deadline=5)
    assert rounds.left_out == len(lost)
    assert len(choices) == ROUNDS * CLIENTS
    assert rounds.server.accounts.observations == {0: ROUNDS, 1: ROUNDS, 2: ROUNDS}


def test_a_round_goes_on_at_its_deadline_without_a_site_that_is_away_and_later_with_it():
    away = {(round_, 2): "away" for round_ in range(3)}
    choices, rounds = played("fldb-ogd", mishap=lambda *at: away.get(at, ""), deadline=5)
    assert rounds.left_out == len(away)
    assert sorted(round_ for round_, site in choices if site == 2) == list(range(3, ROUNDS))
    assert rounds.server.accounts.observations == {0: ROUNDS, 1: ROUNDS, 2: ROUNDS - 3}
    assert not rounds.server.awaited().size


def test_without_a_deadline_a_site_that_fails_ends_the_run_in_one_sentence():
    with pytest.raises(SitesSilent, match=r"^sites 1 have failed: see the warnings above, or give fedbandit.deadline"):
        played("fldb-ogd", mishap=lambda round_, site: "away" if site == 1 else "")


class Forgetful(Post):
    """Flower loses what a site kept, in the middle."""

    def exchange(self, requests, seconds):
        if requests.get(0) and requests[0].round == 4 and self.fresh < 2000:
            del self.kept[0]
            self.fresh = 2000
        return super().exchange(requests, seconds)


def test_a_site_whose_context_was_lost_goes_on_in_a_new_life_and_hears_what_all_have_learnt():
    plan = read_plan(keys(federation("fldb-ogd", ROUNDS, deadline=5)))
    post = Forgetful(plan, Application("fldb-ogd", ROUNDS, lambda *_: None))
    rounds = Rounds(plan, MemoryJournal(), post, clock=lambda: 1e9)
    rounds.play()
    sites = [FlowerSite(plan, site, post.kept[site], 0) for site in range(CLIENTS)]
    assert [site.life.node.epoch for site in sites] == [2000, 1000, 1000]
    assert len({site.life.version for site in sites}) == 1
    assert rounds.server.accounts.observations[0] == ROUNDS - 4, "of its new life"


def test_a_run_goes_on_from_the_journal_of_the_one_before():
    journal = MemoryJournal()
    _, first = played("fldb-ogd", journal=journal)
    plan = read_plan(keys(federation("fldb-ogd", ROUNDS)))
    again = Rounds(plan, journal, Post(plan, None), clock=lambda: 1e9)
    assert encode_state(again.server.node.state) == encode_state(first.server.node.state)
    choices, _ = played("fldb-ogd", journal=journal, fresh=5000)
    expected, _, _ = simulated("fldb-ogd", ROUNDS)
    assert (as_table(choices) != expected).any(), "it does not begin with nothing"


def test_rewards_may_come_in_a_later_round():
    plan = read_plan(keys(federation("linear-ts", 3)))
    arms, waiting = np.eye(5)[:4], {}

    def play(turn):
        if turn.number in waiting:
            assert [turn.learn(waiting[turn.number], 1.0) for _ in range(2)] == [True, False]
        waiting[turn.number] = turn.choose(arms, ids="abcd").id

    post = Post(plan, play)
    Rounds(plan, MemoryJournal(), post, clock=lambda: 1e9).play()
    site = FlowerSite(plan, 0, post.kept[0], 0)
    assert list(site.life.decisions.pending) == [waiting[0]]
    assert site.policy().choose(arms) in range(4)
    with pytest.raises(InvalidInput, match="no decision 'none' was made at this site"):
        site.learn("none", 1.0)


@pytest.mark.parametrize("number", [None, -1, 3, "0", True])
def test_a_number_that_is_not_one_of_the_sites_is_refused(number):
    plan = read_plan(keys(federation("linear-ts", 3)))
    with pytest.raises(InvalidInput, match=r"^partition-id is .*, but the 3 sites are numbered from 0 to 2: give each"):
        FlowerSite(plan, number, None, 1)


def test_a_site_asks_with_the_bytes_of_a_site_elsewhere():
    plan = read_plan(keys(federation("sync-linucb", ROUNDS)))
    here, there = FlowerSite(plan, 1, None, 1000), DurableClient(plan.charter, 1, fresh=1000)
    assert here.answer(Request([]), lambda turn: None, {})[0] == there.resend()[0]

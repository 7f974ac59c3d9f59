"""How many observations a site may tell of, by its rate and by its silence."""

from __future__ import annotations

import numpy as np
import pytest

from contract.honest_runs import HonestRun
from contract.small_worlds import algorithm_names
from fedbandit.core.bounds import Bounds
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.pace import Pace
from fedbandit.durable.coordinator.validation import Limits
from samples.bad_frames import statistics, upload
from samples.coordinators import coordinator

AS_DOCUMENTED = Limits(Bounds(context=2.0, reward=1.0), observations_per_second=100)


def claim(observations, client=1, sequence=1):
    return upload(statistics(observations, gram=np.eye(4), moment=np.zeros(4)), client=client, sequence=sequence)


def send(server, frame, now):
    return server.receive(frame.to_bytes(), now, frame.client).outcome


def test_one_message_of_a_new_site_cannot_claim_thousands_of_observations():
    server = coordinator(AS_DOCUMENTED)
    assert send(server, claim(9_900), now=0.0) is Outcome.NOT_YET
    assert send(server, claim(100), now=0.0) is Outcome.ACCEPTED


def test_a_first_upload_of_any_size_is_taken_in_when_its_time_has_come():
    server = coordinator(AS_DOCUMENTED)
    large = claim(20_000)
    assert send(server, large, now=0.0) is Outcome.NOT_YET
    assert send(server, large, now=198.0) is Outcome.NOT_YET
    assert send(server, large, now=199.5) is Outcome.ACCEPTED
    assert send(server, claim(100, sequence=2), now=199.5) is Outcome.NOT_YET, "what was used is used"


def test_a_silence_pays_for_one_upload_and_not_for_those_after_it():
    pace = Pace(per_second=100.0, ahead=None)
    pace.allowance(1, now=0.0, is_new=True)
    day = 86_400.0
    assert pace.allowance(1, now=day, is_new=False) == 100.0 * day + 100.0
    pace.take(1, 5, now=day)
    assert pace.allowance(1, now=day, is_new=False) == 6000.0


def test_a_slow_site_may_still_tell_of_ten_observations():
    assert Pace(per_second=1e-3, ahead=None).allowance(1, now=0.0, is_new=True) == 10.0


def test_a_clock_that_is_set_back_costs_no_more_than_the_bucket():
    pace = Pace(per_second=10.0, ahead=50.0)
    pace.allowance(1, now=5000.0, is_new=False)
    pace.take(1, 50, now=5000.0)
    assert pace.allowance(1, now=1000.0, is_new=False) == 0.0
    assert pace.allowance(1, now=1002.0, is_new=False) == 20.0


def test_sites_do_not_share_a_bucket():
    server = coordinator(AS_DOCUMENTED)
    assert [send(server, claim(100, client=each), 0.0) for each in range(3)] == [Outcome.ACCEPTED] * 3


@pytest.mark.parametrize("name", algorithm_names())
def test_no_honest_site_that_keeps_to_its_rate_is_asked_to_wait(name):
    """A turn takes a second, and every site has each third: totals that are told again are not counted again."""
    rounds = 8 if name.startswith("fn-") else 40
    run = HonestRun(name, rounds, seed=1, limits=Limits(observations_per_second=0.34)).play()
    assert not run.refused
    told = run.server.accounts.observations
    assert all(count <= rounds for count in told.values()), "no observation is counted twice"

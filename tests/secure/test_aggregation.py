"""Aggregations from the call to the sum, with sites that fall silent or come back without their keys."""

import itertools

import numpy as np
import pytest

from fedbandit.core.errors import ProtocolError
from fedbandit.secure.gathering import NONE, UNMASK
from fedbandit.secure.member import IDLE, MASKED, SPENT
from fedbandit.secure.messages import Left, Masked, Present, Shares, Unmask
from samples.purses import Bank, reach


def test_the_sum_is_that_of_all_and_all_are_told():
    bank = Bank()
    purses = bank.fill()
    bank.run()
    np.testing.assert_array_equal(bank.state.within.values, sum(purses))
    assert bank.state.within.observations == 18
    for cohort in bank.cohorts:
        assert cohort.member.stage == IDLE
        assert not cohort.within.values.any()
        np.testing.assert_array_equal(cohort.within.told[-1], sum(purses))


@pytest.mark.parametrize("step", range(4))
@pytest.mark.parametrize("lost", [(0,), (5,), (1, 4)])
def test_with_up_to_a_third_lost_at_any_step_the_sum_is_exact(step, lost):
    bank = Bank(sites=7)
    purses = bank.fill()
    bank.run(losing=[()] * step + [lost])
    counted = [number for number in range(7) if number not in lost or step == 3]
    np.testing.assert_array_equal(bank.state.within.values, sum(purses[number] for number in counted))
    np.testing.assert_array_equal(bank.total, sum(purses))
    bank.fill()
    everything = bank.total
    bank.run()
    np.testing.assert_array_equal(bank.state.within.values, everything)


def test_nothing_is_lost_nor_counted_twice_whoever_is_lost_at_whichever_steps():
    rng = np.random.default_rng(5)
    bank, owned = Bank(sites=9), np.zeros(5)
    for _ in range(12):
        before = bank.total
        bank.fill(rng.choice(9, size=6, replace=False))
        owned = owned + (bank.total - before)
        lost = rng.permutation(9)[:3]
        places = rng.integers(4, size=3)
        at = [[int(each) for each, place in zip(lost, places, strict=True) if place == step] for step in range(4)]
        bank.run(losing=at)
        np.testing.assert_array_equal(bank.total, owned)
        assert bank.state.gathering.stage == NONE
    assert bank.state.gathering.finished >= 4
    assert bank.state.gathering.dropped


def test_sites_without_observations_take_no_part_and_are_told_all_the_same():
    bank = Bank()
    purses = bank.fill([0, 2, 3, 5])
    bank.run()
    np.testing.assert_array_equal(bank.state.within.values, sum(purses))
    assert not any(isinstance(message, Masked) and sender in (1, 4) for sender, message in bank.seen)
    assert len(bank.cohorts[1].within.told) == 1


@pytest.mark.parametrize("ready", range(3))
def test_no_sum_over_fewer_than_the_smallest_cohort_leaves_the_masks(ready):
    bank = Bank()
    purses = bank.fill(range(ready))
    bank.run()
    assert not bank.state.within.values.any()
    assert bank.state.gathering.dropped == 1
    assert not any(isinstance(message, Shares | Masked | Unmask) for _, message in bank.seen)
    np.testing.assert_array_equal(bank.total, sum(purses))


def test_a_coordinator_that_forgets_the_smallest_cohort_is_refused_by_every_site():
    bank = Bank(sites=3)
    bank.server.smallest_cohort = 1
    purses = bank.fill([0, 1])
    outgoing = bank.call()
    roster = [each for answer in bank.deliver(outgoing) for each in bank.upload(*answer)]
    with pytest.raises(ProtocolError, match="2 sites contribute, but this site tells nothing of itself in a sum over"):
        bank.deliver(roster)
    np.testing.assert_array_equal(bank.total, sum(purses))


def test_before_step_4_too_few_answers_drop_the_aggregation_and_all_keep_their_data():
    for step in (1, 2):
        bank = Bank()
        purses = bank.fill()
        bank.run(losing=[()] * step + [(0, 1)])
        assert bank.state.gathering.dropped == 1
        assert not bank.state.within.values.any()
        for number, cohort in enumerate(bank.cohorts):
            np.testing.assert_array_equal(cohort.within.values, purses[number])


def test_in_step_4_no_deadline_ends_it_and_answers_will_do_whenever_they_come():
    bank = Bank()
    purses = bank.fill()
    answers = reach(bank, Unmask)
    for answer in answers[:4]:
        assert not bank.upload(*answer)
    assert not list(bank.server.deadline(bank.state))
    assert bank.server.awaited(bank.state).size == 0
    assert bank.state.gathering.stage == UNMASK
    bank.deliver(bank.upload(*answers[4]))
    np.testing.assert_array_equal(bank.state.within.values, sum(purses))


def test_an_operator_can_give_up_a_sum_and_only_those_who_answered_lose_their_parts():
    bank = Bank()
    purses = bank.fill()
    outgoing = bank.call()
    for _ in range(3):
        outgoing = [each for answer in bank.deliver(outgoing) for each in bank.upload(*answer)]
    bank.silent = {2, 3, 4, 5}
    bank.step(outgoing)
    assert [cohort.member.stage for cohort in bank.cohorts] == [SPENT, SPENT, MASKED, MASKED, MASKED, MASKED]
    bank.silent.clear()
    bank.deliver(bank.server.abandon(bank.state))
    assert bank.state.gathering.abandoned == 1
    for number, cohort in enumerate(bank.cohorts):
        np.testing.assert_array_equal(cohort.within.values, purses[number] if number > 1 else np.zeros(5))
    assert not list(bank.server.abandon(bank.state))
    bank.run()
    np.testing.assert_array_equal(bank.state.within.values, sum(purses[2:]))


def test_a_site_that_comes_back_without_its_keys_leaves_and_the_others_go_on():
    bank = Bank()
    purses = bank.fill()
    answers = reach(bank, Shares)
    outgoing = [each for answer in answers for each in bank.upload(*answer)]
    bank.cohorts[3] = bank.sites[3].start(1)
    answers = bank.deliver(outgoing)
    assert [type(message) for _, message in answers if isinstance(message, Left)] == [Left]
    outgoing = [each for answer in answers for each in bank.upload(*answer)]
    assert outgoing, "nobody is waited for"
    bank.deliver([each for answer in bank.deliver(outgoing) for each in bank.upload(*answer)])
    np.testing.assert_array_equal(bank.state.within.values, sum(purses) - purses[3])


def test_a_part_that_came_too_late_is_kept_until_it_is_known_and_then_contributed_again():
    bank = Bank()
    purses = bank.fill()
    answers = reach(bank, Masked)
    for answer in answers[1:]:
        bank.upload(*answer)
    outgoing = list(bank.server.deadline(bank.state))
    assert not bank.upload(*answers[0]), "it is too late"
    assert bank.cohorts[0].member.stage == MASKED
    outgoing = [each for answer in bank.deliver(outgoing) for each in bank.upload(*answer)]
    np.testing.assert_array_equal(bank.state.within.values, sum(purses[1:]))
    bank.silent = set(range(1, 6))
    bank.deliver(outgoing)
    np.testing.assert_array_equal(bank.cohorts[0].within.values, purses[0])


def test_who_has_missed_the_end_of_an_aggregation_hears_of_it_with_the_next_call():
    bank = Bank()
    purses = bank.fill()
    outgoing = bank.call()
    for _ in range(3):
        outgoing = [each for answer in bank.deliver(outgoing) for each in bank.upload(*answer)]
    bank.silent = {5}  # in the sum, but it hears neither that nor the result
    bank.deliver(bank.step(outgoing))
    bank.silent.clear()
    assert bank.cohorts[5].member.stage == MASKED
    bank.deliver(bank.call())
    assert not bank.cohorts[5].within.values.any()
    np.testing.assert_array_equal(bank.total, sum(purses))


def test_a_sum_that_no_honest_sites_can_have_is_not_taken_in():
    bank = Bank()
    bank.fill()
    bank.cohorts[2].within.values[0] = -1e6
    bank.run()
    assert bank.state.gathering.refused == 1
    assert not bank.state.within.values.any()


def test_every_choice_of_two_sites_that_are_lost_at_two_steps_leaves_the_sum_of_the_others_exact():
    for first, second in itertools.combinations(range(4), 2):
        bank = Bank(sites=6, seed=first)
        purses = bank.fill()
        losing = [()] * 4
        losing[first], losing[second] = (1,), (4,)
        bank.run(losing=losing)
        np.testing.assert_array_equal(bank.total, sum(purses))


def test_present_is_told_to_those_who_are_in_the_sum_alone():
    bank = Bank()
    bank.fill()
    answers = reach(bank, Masked)
    for answer in answers[:5]:
        bank.upload(*answer)
    (outgoing,) = bank.server.deadline(bank.state)
    assert isinstance(outgoing.message, Present)
    assert outgoing.clients.tolist() == [0, 1, 2, 3, 4]

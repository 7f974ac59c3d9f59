"""What sites and coordinators of a secure aggregation refuse, and that nothing is lost by it."""

from dataclasses import replace

import numpy as np
import pytest

from fedbandit.core.errors import ProtocolError
from fedbandit.secure.gathering import UNMASK
from fedbandit.secure.member import IDLE
from fedbandit.secure.messages import Left, Masked, Parcels, Shares, Unmask
from samples.purses import Bank, reach


def refusal(bank, sender, message):
    with pytest.raises(ProtocolError) as caught:
        bank.upload(sender, message)
    return str(caught.value)


def test_shares_of_a_stranger_are_refused():
    bank = Bank()
    bank.fill(range(5))
    answers = dict(reach(bank, Shares))
    assert "site 5 sends shares, but takes no part" in refusal(bank, 5, answers[0])


def test_what_is_sent_again_is_no_harm_and_other_content_is_refused():
    bank = Bank()
    bank.fill()
    answers = reach(bank, Shares)
    bank.upload(*answers[0])
    assert not bank.upload(*answers[0])
    other = replace(answers[0][1], parcels=answers[0][1].parcels ^ 1)
    assert "site 0 has sent other shares in aggregation 1:0 before" in refusal(bank, 0, other)


def test_sums_under_masks_before_their_step_are_refused():
    bank = Bank()
    bank.fill()
    reach(bank, Shares)
    early = Masked(np.array([1]), np.array([0]), np.zeros((1, 5), dtype=np.uint64))
    assert "site 0 sends masked sums, but takes no part in that step of 1:0" in refusal(bank, 0, early)


def test_a_share_of_a_site_that_did_not_go_on_is_refused():
    bank = Bank()
    bank.fill(range(5))
    _, answer = reach(bank, Unmask)[0]
    shares = answer.shares.copy()
    shares[0, 5] = 7
    assert "site 0 has a share of site 5, which is not in 1:0" in refusal(bank, 0, replace(answer, shares=shares))


def test_shares_that_one_site_made_up_are_made_up_for_by_those_of_others():
    bank = Bank()
    purses = bank.fill()
    answers = reach(bank, Unmask)
    answers[0] = 0, replace(answers[0][1], shares=answers[0][1].shares ^ 3)
    outgoing = [each for answer in answers for each in bank.upload(*answer)]
    bank.deliver(outgoing)
    np.testing.assert_array_equal(bank.state.within.values, sum(purses))


def test_with_too_few_right_shares_there_is_no_sum():
    bank = Bank()
    bank.fill()
    answers = reach(bank, Unmask)
    for place in (0, 1):
        answers[place] = place, replace(answers[place][1], shares=answers[place][1].shares ^ 3)
    assert not [each for answer in answers for each in bank.upload(*answer)]
    assert bank.state.gathering.stage == UNMASK


def test_a_parcel_that_was_changed_costs_no_more_than_a_share():
    bank = Bank()
    purses = bank.fill()
    answers = reach(bank, Shares)
    outgoing = [each for answer in answers for each in bank.upload(*answer)]
    changed = outgoing[2].message
    changed.parcels[4, 0] ^= 1
    for _ in range(2):
        outgoing = [each for answer in bank.deliver(outgoing) for each in bank.upload(*answer)]
    bank.deliver(outgoing)
    np.testing.assert_array_equal(bank.state.within.values, sum(purses))


@pytest.fixture
def at_roster():
    bank = Bank()
    bank.fill()
    outgoing = [each for answer in bank.deliver(bank.call()) for each in bank.upload(*answer)]
    return bank, outgoing[0].message


@pytest.mark.parametrize(
    ("field", "change", "said"),
    [
        ("keys", (1, 0), "the keys of site 1 are not signed by it"),
        ("signatures", (4, 9), "the keys of site 4 are not signed by it"),
        ("observations", (2,), "the keys of site 2 are not signed by it"),
    ],
)
def test_a_roster_with_other_keys_than_sites_have_signed_is_not_answered(at_roster, field, change, said):
    bank, roster = at_roster
    values = getattr(roster, field).copy()
    values[change] = values[change] + 1
    with pytest.raises(ProtocolError, match=said):
        bank.download(0, replace(roster, **{field: values}))
    assert bank.download(0, roster), "the right one is answered still"


@pytest.mark.parametrize("field", ["keys", "observations"])
def test_a_site_that_is_listed_with_other_keys_than_it_has_leaves_and_keeps_its_part(at_roster, field):
    bank, roster = at_roster
    values = getattr(roster, field).copy()
    values[0] = values[0] + 1
    before = bank.total
    (answer,) = bank.download(0, replace(roster, **{field: values}))
    assert isinstance(answer, Left)
    assert bank.cohorts[0].member.stage == IDLE
    np.testing.assert_array_equal(bank.total, before)


def test_a_site_that_has_lost_its_keys_may_send_others_before_the_roster_and_is_left_out_after_it():
    bank = Bank()
    purses = bank.fill()
    call = bank.call()
    first = bank.deliver(call)
    bank.upload(*first[0])
    bank.cohorts[0] = bank.sites[0].start(1)
    bank.cohorts[0].within.values, bank.cohorts[0].within.observations = purses[0].copy(), 3
    again = bank.download(0, call[0].message)[0]
    assert not bank.upload(0, again)
    outgoing = [each for answer in first[1:] for each in bank.upload(*answer)]
    assert outgoing[0].message.keys[0].tobytes() == again.keys[0].tobytes()
    late = replace(again, keys=again.keys ^ 1)
    assert not bank.upload(0, late)
    assert bank.state.gathering.awaited == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("place", [0, 32])
def test_a_key_that_has_nothing_secret_with_anybody_is_refused_by_the_coordinator_and_by_sites(at_roster, place):
    bank, roster = at_roster
    keys = roster.keys.copy()
    keys[3, place : place + 32] = 0
    with pytest.raises(ProtocolError, match="is not a public key that anybody can have"):
        bank.download(0, replace(roster, keys=keys))
    bank.deliver(bank.server.abandon(bank.state))
    sender, answer = bank.deliver(bank.call())[3]
    assert "is not a public key that anybody can have" in refusal(bank, sender, replace(answer, keys=keys[3:4]))


def test_a_key_of_an_earlier_aggregation_is_not_taken_for_one_of_this(at_roster):
    bank, old = at_roster
    bank.deliver(bank.server.abandon(bank.state))
    roster = next(each for answer in bank.deliver(bank.call()) for each in bank.upload(*answer)).message
    replayed = {name: getattr(roster, name).copy() for name in ("keys", "signatures")}
    for name, rows in replayed.items():
        rows[1] = getattr(old, name)[1]
    with pytest.raises(ProtocolError, match="the keys of site 1 are not signed by it"):
        bank.download(0, replace(roster, **replayed))


def test_a_site_gives_never_both_shares_of_another():
    bank = Bank()
    bank.fill()
    answers = reach(bank, Masked)
    outgoing = [each for answer in answers for each in bank.upload(*answer)]
    present = outgoing[0].message
    first = bank.download(0, present)[0]
    without = present.members.copy()
    without[3] = 0
    assert not bank.download(0, replace(present, members=without)), "it has answered"
    others = bank.download(1, replace(present, members=without))[0]
    assert first.shares[0, 3].any()
    assert others.shares[0, 3].any()


@pytest.mark.parametrize("members", [(1, 2, 3, 4, 5), (0, 1, 2, 3)])
def test_a_site_helps_with_no_sum_that_it_is_not_in_or_that_is_over_too_few(members):
    bank = Bank()
    bank.fill()
    answers = reach(bank, Masked)
    present = next(each for answer in answers for each in bank.upload(*answer)).message
    marks = np.zeros(6, dtype=np.uint8)
    marks[list(members)] = 1
    with pytest.raises(ProtocolError, match=r"without this one|4 sites are in the sum"):
        bank.download(0, replace(present, members=marks))


def test_a_site_goes_on_with_nobody_who_was_not_on_the_roster():
    bank = Bank()
    bank.fill(range(5))
    answers = reach(bank, Shares)
    parcels = next(each for answer in answers for each in bank.upload(*answer)).message
    assert isinstance(parcels, Parcels)
    marks = parcels.senders.copy()
    marks[5] = 1
    with pytest.raises(ProtocolError, match="site 5, which was not on its roster"):
        bank.download(0, replace(parcels, senders=marks))


def test_random_bytes_of_another_length_are_refused():
    bank = Bank()
    bank.fill()
    with pytest.raises(ProtocolError, match="takes 128 random bytes, not 3"):
        bank.sites[0].part.keys(bank.cohorts[0].member, b"abc", b"", b"")

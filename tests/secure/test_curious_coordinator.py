"""A coordinator that follows the protocol and is curious: what it has heard and stored tells it nothing of one site."""

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from fedbandit.secure import masks, shamir
from fedbandit.secure.messages import Masked, Unmask
from fedbandit.secure.ring import from_ring
from fedbandit.secure.server import SecureServer
from samples.purses import WORDS, Bank, PurseParts


def heard(bank, kind):
    return {sender: message for sender, message in bank.seen if isinstance(message, kind)}


def guess_of(bank, site):
    """Return the purse of a site as far as anything that the coordinator has heard gives it away.

    It tries what came as it is, without each mask that it can make of what it was told, and as the difference of sums.
    """
    gathered = {sender: message.values[0] for sender, message in heard(bank, Masked).items()}
    tries = [from_ring(gathered[site])]
    total = sum(gathered.values(), np.zeros(WORDS, dtype=np.uint64))
    tries += [from_ring(total - gathered[site]), from_ring(gathered[site] - total)]
    tries += [bank.state.within.values - from_ring(words) for words in gathered.values()]
    return tries


@pytest.fixture(params=[False, True], ids=["off", "on"])
def masks_are_on(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr("fedbandit.secure.masks.mask", lambda seed, length: np.zeros(length, dtype=np.uint64))
    return request.param


def test_a_part_is_read_off_without_masks_and_not_with_them(masks_are_on):
    bank = Bank()
    purses = bank.fill()
    bank.run()
    np.testing.assert_array_equal(bank.state.within.values, sum(purses))
    for site, purse in enumerate(purses):
        is_found = any((each == purse).all() for each in guess_of(bank, site))
        assert is_found != masks_are_on


def test_with_the_shares_of_those_who_left_the_parts_that_came_too_late_stay_hidden():
    """It has the mask key of a site that left, whose masked sums come after all: its own mask still hides them."""
    bank = Bank()
    purses = bank.fill()
    outgoing = bank.call()
    for _ in range(2):
        outgoing = [each for answer in bank.deliver(outgoing) for each in bank.upload(*answer)]
    answers = bank.deliver(outgoing)
    for answer in answers[:5]:
        bank.upload(*answer)
    outgoing = list(bank.server.deadline(bank.state))
    bank.upload(*answers[5])
    shares = [message for _, message in bank.deliver(outgoing)]
    key = shamir.joined({sender: each.shares[0, 5].tobytes() for sender, each in enumerate(shares)}, 5)
    gathering = bank.state.gathering
    publics = {client: keys[:32] for client, keys in gathering.keys.items()}
    assert masks.public(key) == publics[5], "its mask key is known"
    late = answers[5][1].values[0] - masks.pair_masks(key, publics, gathering.name, 5, WORDS)
    assert not (from_ring(late) == purses[5]).all()
    assert np.abs(from_ring(late)).max() > 1e6, "no purse is so large"


def test_what_the_coordinator_stores_of_a_site_is_uniform():
    words, bits = [], []
    bank = Bank(sites=4, seed=3)
    for _ in range(40):
        bank.fill()
        bank.seen.clear()
        bank.run()
        for message in heard(bank, Masked).values():
            words += message.values[0].tolist()
        for message in heard(bank, Unmask).values():
            bits += np.unpackbits(message.shares[0, :, 1:]).tolist()
    scaled = np.array(words, dtype=np.float64) / 2.0**64
    assert kstest(scaled, "uniform").pvalue > 0.001
    low = np.array([word & 0xFF for word in words])
    assert chisquare(np.bincount(low, minlength=256)).pvalue > 0.001
    assert abs(np.mean(bits) - 0.5) < 4 * 0.5 / np.sqrt(len(bits))


def test_and_without_masks_it_is_not(monkeypatch):
    monkeypatch.setattr("fedbandit.secure.masks.mask", lambda seed, length: np.zeros(length, dtype=np.uint64))
    bank = Bank(sites=4, seed=3)
    bank.fill()
    bank.run()
    words = np.concatenate([message.values[0] for message in heard(bank, Masked).values()])
    assert kstest(words.astype(np.float64) / 2.0**64, "uniform").pvalue < 1e-6


def test_a_mask_that_one_site_uses_twice_would_tell_the_difference_and_none_does():
    bank = Bank(sites=4)
    seen = []
    for _ in range(2):
        for cohort in bank.cohorts:
            cohort.within.values, cohort.within.observations = np.full(WORDS, 2.0), 1
        bank.seen.clear()
        bank.run()
        seen.append(heard(bank, Masked)[0].values[0])
    assert not (seen[0] == seen[1]).any()


class NoSmallestCohort(SecureServer):
    """A planted bug: the coordinator goes on however few there are, and so do its sites."""

    def __init__(self, within, parts, smallest_cohort, sizes):
        super().__init__(within, parts, 1, sizes)


def no_sum_is_over_fewer_than(least, bank):
    """Tell whether all sums that lost their masks are over so many sites."""
    sums = []
    bank.server.parts.merge = lambda side, state, total, observations, empty: (
        sums.append(len(observations)), PurseParts.merge(bank.server.parts, side, state, total, observations, empty)
    )[1]  # fmt: skip
    rng = np.random.default_rng(4)
    for _ in range(6):
        bank.fill(rng.choice(6, size=int(rng.integers(1, 7)), replace=False))
        bank.run()
    return all(count >= least for count in sums) and bool(sums)


def test_no_sum_is_over_fewer_sites_than_the_smallest_cohort():
    assert no_sum_is_over_fewer_than(3, Bank())


def test_a_federation_without_that_check_is_caught():
    bank = Bank(server=NoSmallestCohort)
    for site in bank.sites:
        site.part.smallest_cohort = 1
    assert not no_sum_is_over_fewer_than(3, bank)

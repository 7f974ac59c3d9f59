"""The search for a threshold: near the bytes that are wanted, never above them, in few runs."""

import math

import pytest

from fedbandit.advice.thresholds import MOST_RUNS, Curve


def smooth(power, scale=1e5):
    return lambda threshold: scale / (threshold + 0.01) ** power


def steps(threshold):
    """Bytes of whole synchronisations."""
    return 2000.0 * math.floor(20 / (1 + threshold))


@pytest.mark.parametrize("power", [0.4, 0.7, 1.0, 1.3])
@pytest.mark.parametrize("wanted", [2e3, 3e4, 4e5])
def test_bytes_come_near_what_is_wanted_and_not_above(power, wanted):
    asked = []
    curve = Curve(lambda threshold: asked.append(threshold) or smooth(power)(threshold))
    found = curve.threshold_for(wanted)
    assert 0.9 * wanted <= smooth(power)(found) <= wanted
    assert len(asked) <= MOST_RUNS


def test_what_was_tried_is_not_tried_again():
    asked = []
    curve = Curve(lambda threshold: asked.append(threshold) or smooth(1.0)(threshold))
    found = curve.threshold_for(3e4)
    assert found == curve.threshold_for(3e4) == float(f"{found:.4g}")
    assert len(asked) == len(set(asked)) <= MOST_RUNS
    curve.threshold_for(5e4)
    assert len(asked) <= MOST_RUNS + 3


def test_where_bytes_jump_the_most_below_is_taken():
    curve = Curve(steps)
    found = steps(curve.threshold_for(9_000))
    assert found <= 9_000
    assert found == max(spent for spent in curve.tried.values() if spent <= 9_000)
    assert found >= 4_000


def test_a_family_that_never_sends_so_much_sends_all_it_can():
    curve = Curve(lambda threshold: 5000.0 / (1 + threshold))
    assert 5000.0 / (1 + curve.threshold_for(1e9)) == pytest.approx(5000.0, rel=1e-3)


def test_a_family_that_always_sends_more_is_taken_at_its_cheapest():
    curve = Curve(lambda threshold: 5000.0 + 1 / threshold)
    assert curve.threshold_for(100.0) == max(curve.tried)

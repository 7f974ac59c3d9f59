"""What something costs at equal outcome: frontiers of two series, seed by seed."""

import math

import numpy as np
import pytest
from scipy import stats

from fedbandit.experiments.frontiers import CheaperAtEqual
from fedbandit.experiments.table import Table
from samples.tables import costs, row

CHEAPER = CheaperAtEqual("cheap is cheaper", cheaper="cheap", dearer="dear")
FOUR = ((10, 5), (100, 3), (1000, 1))
TWICE = ((20, 5), (200, 3), (2000, 1))


@pytest.mark.parametrize(
    ("cheap", "dear", "answer"),
    [
        (FOUR, TWICE, "holds"),
        (TWICE, FOUR, "does not hold"),
        (((10, 5), (5000, 1)), ((20, 5), (2000, 1)), "mixed"),
        (FOUR, FOUR, "level"),
        (((10, 3),), ((100, 5), (1000, 1)), "holds"),
        (((500, 3),), ((100, 5), (1000, 1)), "does not hold"),
        (((10, 3), (1000, 1)), ((10, 9), (1000, 5)), "holds"),
        (((10, 9), (1000, 5)), ((10, 3), (1000, 1)), "does not hold"),
        (((10, 9), (1000, 5)), ((16, 3), (9000, 1)), "does not hold"),
        (((1, 3), (5, 1)), ((10, 9), (20, 7)), "holds"),
        (((10, 9), (20, 7)), ((1, 3), (5, 1)), "does not hold"),
        (((1, 9), (5, 7)), ((10, 3), (20, 1)), "cannot be judged"),
        (((10, 3), (20, 1)), ((1, 9), (5, 7)), "cannot be judged"),
        (((0, 3),), ((100, 5), (1000, 1)), "cannot be judged"),
        (((10, 3), (20, 2)), (), "cannot be judged"),
        (((10, math.nan), (20, math.nan)), ((100, 5), (1000, 1)), "cannot be judged"),
        (((10, 5), (20, math.nan), (100, 3)), TWICE, "holds"),
    ],
    ids=[
        "cheaper at every level",
        "dearer at every level",
        "cheaper here and dearer there",
        "identical",
        "one point that is cheaper",
        "one point that is dearer",
        "better everywhere at equal costs",
        "worse everywhere at equal costs",
        "worse everywhere where costs are shared, though it also has a cheaper point",
        "better and cheaper everywhere",
        "worse and dearer everywhere",
        "cheaper but worse everywhere: nothing to compare",
        "better but dearer everywhere: nothing to compare",
        "no communication at all",
        "no points",
        "regret not known",
        "one point not known",
    ],
)
@pytest.mark.parametrize("seeds", [1, 3])
def test_cheaper_at_equal_regret(cheap, dear, answer, seeds):
    same = [[((x,) * seeds, (y,) * seeds) for x, y in points] for points in (cheap, dear)]
    found = CHEAPER.judge(costs(cheap=same[0], dear=same[1]))
    assert found.answer == answer
    assert found.evidence.endswith("(one seed: no interval)") == (seeds == 1 and answer != "cannot be judged")


def noisy(points, sizes, rng):
    """Points whose regret differs from seed to seed: by the world, and by a little of their own."""
    world = rng.normal(scale=sizes[0], size=12)
    return world, [
        ((x,) * 12, tuple(y + each for each in world + rng.normal(scale=sizes[1], size=12))) for x, y in points
    ]


@pytest.mark.parametrize(
    ("noise", "answer"), [((0.5, 0.01), "holds"), ((0.0, 3.0), "level")], ids=["hard and easy worlds", "pure chance"]
)
def test_worlds_that_are_hard_for_both_do_not_count_and_chance_does(noise, answer):
    rng = np.random.default_rng(3)
    world, cheap = noisy(((10, 5), (100, 3), (1000, 1)), noise, rng)
    dear = [((x,) * 12, tuple(y + each for each in world + rng.normal(scale=noise[1], size=12))) for x, y in TWICE]
    assert CHEAPER.judge(costs(cheap=cheap, dear=dear)).answer == answer


def test_the_interval_of_a_ratio_of_costs_is_the_jackknife_written_out():
    rng = np.random.default_rng(8)
    cheap, dear = (rng.normal([[5], [1]], 0.1, (2, 4)) for _ in range(2))  # regret of two points in four seeds
    claim = CheaperAtEqual("", cheaper="cheap", dearer="dear", levels=3)

    def middle(seeds):
        """The logarithm of the ratio of costs half-way along the regret that both reach, by hand."""
        (high, low), (top, bottom) = (each[:, seeds].mean(axis=1) for each in (cheap, dear))
        level = (max(low, bottom) + min(high, top)) / 2
        ours = np.log(1000) + (level - low) / (high - low) * (np.log(10) - np.log(1000))
        theirs = np.log(2000) + (level - bottom) / (top - bottom) * (np.log(20) - np.log(2000))
        return ours - theirs

    without = np.array([middle([s for s in range(4) if s != seed]) for seed in range(4)])
    margin = stats.t.ppf(0.975, 3) * math.sqrt(3 / 4 * ((without - without.mean()) ** 2).sum())
    value = middle(range(4))
    found = claim.judge(
        costs(
            cheap=[((x,) * 4, tuple(y)) for x, y in zip((10, 1000), cheap, strict=True)],
            dear=[((x,) * 4, tuple(y)) for x, y in zip((20, 2000), dear, strict=True)],
        )
    )
    ratio, low, high = np.exp([value, value - margin, value + margin])
    assert f"({ratio:.2g} times, {low:.2g} to {high:.2g}); regret" in found.evidence


def test_a_point_that_costs_nothing_in_some_seeds_makes_the_interval_endless():
    found = CHEAPER.judge(costs(cheap=[((0, 10), (3.0, 3.0))], dear=[((20, 20), (5.0, 5.0)), ((90, 90), (1.0, 1.0))]))
    assert found.answer == "level"


def test_costs_between_two_points_are_interpolated_on_a_logarithmic_scale():
    claim = CheaperAtEqual("", cheaper="cheap", dearer="dear", levels=3)
    found = claim.judge(costs(cheap=((10, 5), (1000, 1)), dear=((20, 5), (2000, 1))))
    assert "regret 3: 100 against 200 messages (0.5 times)" in found.evidence


def test_points_that_another_beats_in_both_are_left_out():
    wasteful = ((10, 5), (900, 3), (50, 2), (1000, 1))
    assert CHEAPER.judge(costs(cheap=wasteful, dear=((20, 5), (2000, 1)))).answer == "holds"


@pytest.mark.parametrize(
    ("cheap", "dear", "answer"),
    [
        (((10, 1), (100, 3)), ((20, 1), (200, 3)), "holds"),
        (((20, 1), (200, 3)), ((10, 1), (100, 3)), "does not hold"),
        (((10, 8), (100, 9)), ((10, 1), (100, 3)), "holds"),
        (((10, 1), (100, 3)), ((10, 8), (100, 9)), "does not hold"),
    ],
)
def test_of_reward_more_is_better(cheap, dear, answer):
    claim = CheaperAtEqual("", cheaper="cheap", dearer="dear", y="reward")
    rows = [
        row(name, str(x), messages=x, reward=y)
        for name, points in (("cheap", cheap), ("dear", dear))
        for x, y in points
    ]
    found = claim.judge(Table(tuple(rows)))
    assert found.answer == answer
    assert "reward -" not in found.evidence, "levels are shown as they were measured"


def test_at_equal_costs_the_evidence_has_both_outcomes_and_their_difference():
    found = CheaperAtEqual("", cheaper="cheap", dearer="dear", levels=2).judge(
        costs(cheap=(((10, 10), (9.0, 9.5)),), dear=(((10, 10), (3.0, 3.1)), ((99, 99), (1.0, 1.0))))
    )
    assert found == (
        "does not hold",
        "the two series share no range of regret: cheap 9.25 to 9.25, dear 1 to 3.05; "
        "cheap against dear at 10 messages: regret 9.25 against 3.05 (+6.2 ± 2.5)",
    )


def test_a_series_that_is_better_and_cheaper_everywhere_decides_by_its_least_cost_however_near_the_two_come():
    cheap, dear = (((60, 70), (3.0, 3.2)), ((10, 11), (9.0, 9.1))), (((2, 2), (2.9, 3.2)), ((9, 9), (2.0, 2.0)))
    found = CHEAPER.judge(costs(cheap=cheap, dear=dear))
    assert found == (
        "does not hold",
        "the two series share no range of regret: cheap 3.1 to 9.05, dear 2 to 3.05, and no range of messages: one is "
        "better everywhere, and cheaper everywhere; cheap against dear: 10 against 2 messages at least "
        "(5.2 times, 2.9 to 9.6)",
    )

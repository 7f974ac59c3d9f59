"""private-linucb chooses, releases and counts as the literal transcription does, and refuses what breaks its word."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import fedbandit as fb
from algorithms.linear.played import play
from fedbandit.core.errors import InvalidInput
from reference.private import private_linucb
from reference.recorded import linear_turns
from samples.worlds import step_by_hand

VECTORS = Path(__file__).parents[2] / "vectors"
CASES = json.loads((VECTORS / "private.json").read_text())
HASHES = {
    "e71be56c7d8f7c18", "a8464e185f7be93d", "358ef0ea9b7243b1", "6a1042ae7a8bb98a", "7fbb91a5888f215d",
    "c40b39e870786eb0",
}  # fmt: skip


def world(seed=0, clients=3, releases=16, **sizes):
    """Turns of unit arms, with the noise of releases and the numbers of samples."""
    sizes = {"turns": 240, "arms": 4, "dimension": 3, "skew": 0.7} | sizes
    arrays, rng = linear_turns(seed=seed, clients=clients, **sizes), np.random.default_rng(seed + 100)
    size = sizes["dimension"]
    arrays["noise_draws"] = rng.standard_normal((clients, releases, size * (size + 1) // 2 + size))
    arrays["draws"] = rng.standard_normal((sizes["turns"], size))
    return arrays


@pytest.mark.parametrize("case", CASES, ids=lambda each: " ".join(f"{k}={v}" for k, v in each["set"].items()))
def test_every_arm_of_the_published_runs_is_chosen(case):
    result = fb.run("private-linucb", fb.environment("recorded", path=str(VECTORS / case["file"])), **case["set"])
    assert "".join(map(str, result.choice)) == case["arms"]
    assert result.messages[-1] == case["messages"]


def test_the_published_digests_are_those_of_the_published_arms():
    arms = [np.array(list(map(int, case["arms"])), dtype="<i8") for case in CASES]
    assert {hashlib.sha256(each.tobytes()).hexdigest()[:16] for each in arms} >= HASHES


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"mechanism": "tree"},
        {"schedule": "own-count"},
        {"schedule": "own-count", "growth": 1.3, "mechanism": "tree"},
        {"releases": 3},
        {"releases": 3, "schedule": "own-count", "growth": 1.2},
        {"exploration": "thompson"},
        {"exploration": "igw", "greed": 20.0},
        {"alpha": 0.2, "ridge": 3.0},
        {"context_bound": 2.0, "reward_bound": 0.3, "noise": 1.0, "delta": 0.01, "privacy_delta": 1e-3},
    ],
    ids=lambda each: " ".join(f"{k}={v}" for k, v in each.items()) or "defaults",
)
@pytest.mark.parametrize("epsilon", [1.0, 60.0])
def test_it_equals_the_transcription(tmp_path, parameters, epsilon):
    given = {"epsilon": epsilon, "releases": 16, "batch": 9} | parameters
    arrays = world(seed=3)
    literal = private_linucb(arrays, **given)
    trace, wire = play(tmp_path, arrays, "private-linucb", **given)
    assert trace.choice.tolist() == literal["arm"].tolist()
    assert np.cumsum(trace.messages).tolist() == literal["messages"].tolist()
    assert np.cumsum(trace.scalars).tolist() == literal["scalars"].tolist()
    assert (trace.ledger.uploads, trace.ledger.downloads) == (literal["uploads"], literal["downloads"])
    last = {client: (k, gram, moment) for _, client, k, gram, moment in literal["released"]}
    state = wire.server.state
    assert state.client.tolist() == sorted(last)
    for row, client in enumerate(state.client):
        k, gram, moment = last[client]
        assert state.release[row] == k
        np.testing.assert_array_equal(state.gram[row], gram)
        np.testing.assert_array_equal(state.moment[row], moment)


def test_without_noise_in_the_file_the_seed_draws_it(tmp_path):
    arrays = world()
    del arrays["noise_draws"]
    runs = []
    for seed in (0, 0, 1):
        np.savez(tmp_path / "turns.npz", **arrays)
        recorded = fb.environment("recorded", path=str(tmp_path / "turns.npz"))
        runs.append(fb.run("private-linucb", recorded, seed=seed, epsilon=30, batch=9, releases=16).choice.tolist())
    assert runs[0] == runs[1] != runs[2]


def test_clients_by_hand_draw_the_noise_of_the_simulation(tmp_path):
    arrays = world()
    del arrays["noise_draws"], arrays["draws"]
    given = {"epsilon": 30, "batch": 9, "releases": 16}
    trace, _ = play(tmp_path, arrays, "private-linucb", **given)
    assert step_by_hand(arrays, "private-linucb", **given)[0] == trace.choice.tolist()


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        ((3, 16, 5), "noise_draws has 5 numbers a release, but d (d + 1) / 2 + d = 9 are needed: record so many"),
        (
            (3, 2, 9),
            "noise_draws has 2 releases of client 0, but it may make more: record as many as the parameter `releases` "
            "says, or leave noise_draws out",
        ),
        ((2, 16, 9), "noise_draws has shape (2, 16, 9), but (3, n, n) with n at least 1 is needed: reshape it"),
    ],
)
def test_noise_that_does_not_fit_is_refused(tmp_path, shape, sentence):
    with pytest.raises(InvalidInput) as error:
        play(tmp_path, world() | {"noise_draws": np.zeros(shape)}, "private-linucb", epsilon=1, batch=9, releases=16)
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({}, "epsilon has no default: give what anybody may learn of one observation, as in epsilon=1"),
        (
            {"epsilon": 1, "exploration": "perturbed"},
            "exploration=perturbed is not for private-linucb: it needs the root of a matrix that noise can make "
            "indefinite; take one of ucb, thompson, igw",
        ),
        (
            {"epsilon": 1, "exploration": "greedy"},
            "exploration=greedy is not for private-linucb; take one of ucb, thompson, igw",
        ),
        (
            {"epsilon": 1, "exploration": "igw"},
            "greed=auto is not for private-linucb: it would weigh the client's own residuals, which are not noised; "
            "give a number, as in greed=30",
        ),
        (
            {"epsilon": 1, "growth": 2},
            "growth=2 does nothing with schedule=rounds, where one client's count calls all: give "
            "schedule=own-count, or leave it out",
        ),
    ],
)
def test_what_would_break_the_promise_is_refused(parameters, sentence):
    with pytest.raises(InvalidInput) as error:
        fb.algorithm("private-linucb", **parameters).build(fb.Setting(2, 3, 4, 10))
    assert str(error.value) == sentence


def test_epsilon_must_be_finite_and_positive():
    for epsilon in (0, -1, np.inf, np.nan):
        with pytest.raises(InvalidInput, match="epsilon"):
            fb.algorithm("private-linucb", epsilon=epsilon)


def test_an_arm_that_is_too_long_is_refused_and_changes_nothing():
    client = fb.Client("private-linucb", dimension=2, epsilon=1.0)
    client.choose(np.array([[0.6, 0.8 + 5e-10], [0.0, 1.0]]))  # rounding is forgiven
    with pytest.raises(InvalidInput) as error:
        client.choose(np.array([[0.6, 0.8], [0.0, 1.1]]))
    assert str(error.value) == (
        "an arm of length 1.1, but context_bound=1 is the bound on which privacy rests: scale the features, or give a "
        "greater bound"
    )
    assert not client.node.state.observations.any()


def test_who_has_no_release_left_is_told_of(tmp_path):
    result = fb.run("private-linucb", fb.environment("linear", clients=2, dimension=3), turns=60, epsilon=1, batch=4,
                    releases=2)  # fmt: skip
    assert result.warnings == (
        "2 of 2 clients have made all 2 releases, so that nothing that they learn from now on is shared: "
        "releases times batch should be the turns of a client",
    )

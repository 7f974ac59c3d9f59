"""FedGLB-UCB and its variants choose and communicate as the literal transcription does, turn by turn."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.turns import Observations
from fedbandit.environments.recorded import Recorded
from fedbandit.simulation.in_process import simulate
from reference.glb import fedglb_ucb, fedglb_ucb_2, n_ons_glm
from reference.glb_variants import fedglb_ucb_1, fedglb_ucb_3
from reference.recorded import glm_rounds

WORLDS = [
    pytest.param({"seed": 0, "rounds": 25, "clients": 8, "arms": 6, "dimension": 3}, id="eight"),
    pytest.param({"seed": 1, "rounds": 12, "clients": 20, "arms": 5, "dimension": 5, "shuffled": False}, id="in order"),
    pytest.param({"seed": 2, "rounds": 80, "clients": 3, "arms": 10, "dimension": 2}, id="long"),
    pytest.param({"seed": 3, "rounds": 60, "clients": 1, "arms": 4, "dimension": 1}, id="one"),
]
LITERAL = {
    "fedglb-ucb": fedglb_ucb,
    "fedglb-ucb-1": fedglb_ucb_1,
    "fedglb-ucb-2": fedglb_ucb_2,
    "fedglb-ucb-3": fedglb_ucb_3,
    "n-ons-glm": n_ons_glm,
}
VARIANTS = ["fedglb-ucb-1", "fedglb-ucb-2", "fedglb-ucb-3"]


def play(folder, world, name, **parameters):
    path = str(folder / "turns.npz")
    np.savez(path, **world)
    recorded = Recorded(path=path)
    return simulate(fb.algorithm(name, **parameters), recorded, recorded.setting().horizon)


def assert_same(folder, world, name, **parameters):
    """Play both; compare arms, messages and scalars by turn, updates, and where everybody ended."""
    literal = LITERAL[name](world, **parameters)
    trace, wire = play(folder, world, name, **parameters)
    assert trace.choice.tolist() == literal["arm"].tolist()
    assert np.cumsum(trace.messages).tolist() == literal["messages"].tolist()
    assert np.cumsum(trace.scalars).tolist() == literal["scalars"].tolist()
    assert (trace.ledger.uploads, trace.ledger.downloads) == (literal["uploads"], literal["downloads"])
    assert np.flatnonzero(trace.messages).tolist() == literal["update_turns"]
    assert trace.rounds == literal["rounds"]
    rows = wire.clients.state.rows
    np.testing.assert_allclose(rows.model, literal["client_models"], atol=1e-9)
    if literal["rounds"]:
        np.testing.assert_allclose(wire.server.state.model, literal["models"][-1], atol=1e-9)
    if "b" in literal:
        np.testing.assert_allclose(rows.moment, literal["b"], atol=1e-8)
        np.testing.assert_allclose(rows.square, literal["z2"], atol=1e-8)
    return literal


@pytest.mark.parametrize("threshold", [0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("sizes", WORLDS)
def test_with_a_fixed_width_and_a_tiny_suboptimality_it_equals_the_transcription(tmp_path, sizes, threshold):
    assert_same(tmp_path, glm_rounds(**sizes), "fedglb-ucb", sync_threshold=threshold, alpha=1.0, suboptimality=1e-16)


@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.5, 5.0, np.inf])
@pytest.mark.parametrize("sizes", WORLDS)
def test_with_the_width_of_lemma_two_it_equals_the_transcription(tmp_path, sizes, threshold):
    assert_same(tmp_path, glm_rounds(**sizes), "fedglb-ucb", sync_threshold=threshold)


@pytest.mark.parametrize("updates", [1, 7, 59, 10_000])
@pytest.mark.parametrize("sizes", WORLDS)
@pytest.mark.parametrize("name", VARIANTS)
def test_variants_equal_their_transcription(tmp_path, name, sizes, updates):
    literal = assert_same(tmp_path, glm_rounds(**sizes), name, rounds_of_update=updates)
    turns = sizes["rounds"] * sizes["clients"]
    assert literal["rounds"] == min(updates, turns)


@pytest.mark.parametrize("sizes", WORLDS)
def test_alone_it_equals_the_transcription_and_sends_nothing(tmp_path, sizes):
    world = glm_rounds(**sizes)
    literal = assert_same(tmp_path, world, "n-ons-glm")
    assert literal["messages"][-1] == 0
    infinite, _ = play(tmp_path, world, "fedglb-ucb", sync_threshold=np.inf)
    assert infinite.choice.tolist() == literal["arm"].tolist()


@pytest.mark.parametrize("link", ["identity", "poisson"])
@pytest.mark.parametrize("name", LITERAL)
def test_other_links_equal_the_transcription(tmp_path, name, link):
    world = glm_rounds(seed=4, rounds=20, clients=6, arms=5, dimension=3, link=link)
    own = {"fedglb-ucb": {"sync_threshold": 0.5}, "n-ons-glm": {}}.get(name, {"rounds_of_update": 11})
    assert_same(tmp_path, world, name, link=link, **own)


@pytest.mark.parametrize(
    "parameters",
    [{"ridge": 0.3}, {"delta": 0.5}, {"radius": 0.2}, {"radius": 4.0}, {"noise_bound": 2.0}, {"alpha": 0.0},
     {"alpha": 0.3}, {"alpha_scale": 2.0}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("name", LITERAL)
def test_every_parameter_does_what_it_says(tmp_path, name, parameters):
    world = glm_rounds(seed=5, rounds=15, clients=6, arms=5, dimension=3)
    own = {"fedglb-ucb": {"sync_threshold": 0.5}, "n-ons-glm": {}}.get(name, {"rounds_of_update": 9})
    assert_same(tmp_path, world, name, **own, **parameters)


def test_longer_arms_need_a_longer_arm_bound(tmp_path):
    world = glm_rounds(seed=6, rounds=15, clients=6, arms=5, dimension=3)
    world["arms"] = world["arms"] * np.sqrt(2.0)
    assert_same(tmp_path, world, "fedglb-ucb", sync_threshold=0.5, arm_bound=1.4143, suboptimality=1e-12)


def test_a_long_run_stays_with_the_transcription(tmp_path):
    """More turns of a client than its inverse goes without being computed afresh, and than a block of data holds."""
    world = glm_rounds(seed=7, rounds=1200, clients=1, arms=3, dimension=2)
    assert_same(tmp_path, world, "n-ons-glm", alpha=0.5)
    assert_same(tmp_path, world, "fedglb-ucb-3", rounds_of_update=1, alpha=0.5)


@pytest.mark.parametrize("name", ["fedglb-ucb", "fedglb-ucb-1", "fedglb-ucb-2"])
def test_an_update_costs_two_messages_a_client_for_each_gradient_and_two_more(tmp_path, name):
    world = glm_rounds(seed=8, rounds=20, clients=6, arms=5, dimension=3)
    own = {"sync_threshold": 0.5} if name == "fedglb-ucb" else {"rounds_of_update": 4}
    literal = LITERAL[name](world, **own)
    trace, _ = play(tmp_path, world, name, **own)
    for turn, gradients in zip(literal["update_turns"], literal["inner_steps"], strict=True):
        assert trace.messages[turn] == 6 * (2 * gradients + 2)
        moment = 0 if name == "fedglb-ucb-1" else 3
        assert trace.scalars[turn] == 6 * (2 * 3 * gradients + 9 + (9 + 3 + moment))


def test_the_newton_solver_sends_hessians_and_few_messages(tmp_path):
    world = glm_rounds(seed=9, rounds=30, clients=6, arms=5, dimension=3)
    slow, _ = play(tmp_path, world, "fedglb-ucb", sync_threshold=0.5, suboptimality=1e-12)
    fast, _ = play(tmp_path, world, "fedglb-ucb", sync_threshold=0.5, suboptimality=1e-12, solver="newton")
    assert (fast.choice == slow.choice).all()
    assert (np.flatnonzero(fast.messages) == np.flatnonzero(slow.messages)).all()
    for turn in np.flatnonzero(fast.messages):
        gradients = fast.messages[turn] // 12 - 1
        assert fast.messages[turn] == 6 * (2 * gradients + 2)
        assert fast.scalars[turn] == 6 * (gradients * (3 + 3 + 9) + 9 + 9 + 6)
        assert gradients <= 5
    assert fast.ledger.scalars < slow.ledger.scalars / 2


def test_turn_by_turn_and_in_blocks_it_plays_the_same(tmp_path):
    world = glm_rounds(seed=10, rounds=70, clients=2, arms=5, dimension=3)
    trace, wire = play(tmp_path, world, "n-ons-glm")
    side = fb.algorithm("n-ons-glm").build(fb.Setting(clients=2, arms=5, dimension=3, horizon=70)).clients
    state = side.start(2)
    for turn, client in enumerate(world["client"]):
        who, offer = np.array([client]), world["arms"][turn : turn + 1]
        choice = side.choose(state, who, offer, np.empty((1, 0)))
        assert choice[0] == trace.choice[turn]
        assert not side.learn(state, who, Observations(offer, choice, world["reward"][turn, choice]))
    assert (state.rows.model == wire.clients.state.rows.model).all()


@pytest.mark.parametrize("solver", ["accelerated", "newton"])
def test_clients_by_hand_and_a_simulated_cohort_play_the_same(tmp_path, solver):
    """Six sites of one client each, and envelopes carried one by one, make the run of a cohort of six."""
    world = glm_rounds(seed=11, rounds=15, clients=6, arms=5, dimension=3)
    own = {"sync_threshold": 0.3, "solver": solver}
    trace, _ = play(tmp_path, world, "fedglb-ucb", **own)
    sizes = {"dimension": 3, "clients": 6, "arms": 5, "horizon": 15}
    sites = [fb.Client("fedglb-ucb", number=number, **sizes, **own) for number in range(6)]
    server = fb.Server("fedglb-ucb", **sizes, **own)
    for turn, client in enumerate(world["client"]):
        arm = sites[client].choose(world["arms"][turn])
        assert arm == trace.choice[turn]
        waiting = list(sites[client].learn(world["reward"][turn, arm]))
        for envelope in waiting:  # the list grows while it is read
            for end in [server] if envelope.is_upload else sites:
                waiting += end.receive(envelope)
    assert trace.rounds > 2


def test_bad_parameters_are_refused_in_one_sentence():
    with pytest.raises(fb.InvalidInput, match="sync_threshold must be at least 0, not -1"):
        fb.algorithm("fedglb-ucb", sync_threshold=-1)
    with pytest.raises(fb.InvalidInput, match=r"rounds_of_update must be a whole number, not 2\.5"):
        fb.algorithm("fedglb-ucb-2", rounds_of_update=2.5)
    with pytest.raises(fb.InvalidInput, match="unknown link 'logit': did you mean 'logistic'"):
        fb.algorithm("fedglb-ucb-3", link="logit")
    with pytest.raises(fb.InvalidInput, match="unknown solver 'newtn': did you mean 'newton'"):
        fb.algorithm("fedglb-ucb", solver="newtn")


def test_a_file_that_is_no_rounds_is_refused(tmp_path):
    world = glm_rounds(seed=12, rounds=4, clients=3, arms=2, dimension=2)
    world["client"][4] = world["client"][3]
    with pytest.raises(fb.InvalidInput, match="already had its turn in round 2"):
        play(tmp_path, world, "fedglb-ucb")

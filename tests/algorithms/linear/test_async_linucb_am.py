"""Async-LinUCB-AM: it follows the literal transcription turn by turn, and keeps what is personal at home."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.simulation.in_process import simulate
from reference.am import async_linucb_am
from reference.recorded import personal_turns


@pytest.fixture
def recorded(tmp_path):
    """Return a function that makes an environment of a world of turns."""

    def make(world):
        np.savez(tmp_path / "turns.npz", **world)
        return fb.environment("recorded", path=str(tmp_path / "turns.npz"))

    return make


DISJOINT = [
    {"global_dimension": 3},
    {"global_dimension": 1, "upload_threshold": 1.1, "download_threshold": 1.1},
    {"global_dimension": 4, "upload_threshold": 1.2, "download_threshold": 1.5},
    {"global_dimension": 5, "upload_threshold": 1.0, "download_threshold": 1.0},
    {"global_dimension": 3, "upload_threshold": 5.0, "download_threshold": 5.0, "alternations": 2},
    {"global_dimension": 2, "upload_threshold": (1.0, 2.0, np.inf, 4.0, 5.0), "download_threshold": 1.3},
    {"global_dimension": 3, "alpha": 0.3, "ridge": 1.0},
    {"global_dimension": 3, "upload_threshold": np.inf, "download_threshold": np.inf},
]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("parameters", DISJOINT)
def test_with_features_of_either_kind_it_chooses_as_the_transcription_does(recorded, parameters, seed):
    size = parameters["global_dimension"]
    world = personal_turns(seed=seed, turns=300, clients=5, arms=6, dimension=5, global_dimension=size, skew=0.7)
    agree(recorded(world), async_linucb_am(world, **parameters), parameters)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"upload_threshold": 1.0, "download_threshold": 1.0},
        {"upload_threshold": 1.2, "download_threshold": 3.0},
        {"upload_threshold": 6.0, "download_threshold": 6.0, "alternations": 1},
        {"noise": 0.0, "delta": 0.5},
    ],
)
def test_with_shared_features_it_chooses_as_the_transcription_does(recorded, parameters, seed):
    world = personal_turns(seed=seed, turns=300, clients=5, arms=6, dimension=4, skew=0.7, shared_features=True)
    parameters = {**parameters, "shared_features": True}
    agree(recorded(world), async_linucb_am(world, **parameters), parameters)


def test_arms_that_leave_directions_out_change_nothing_of_that(recorded):
    world = personal_turns(seed=4, turns=300, clients=4, arms=4, dimension=5, global_dimension=3)
    world["arms"][..., 4] = 0.0  # a personal feature that no arm ever has: only a download can start a client
    world["arms"][:150, :, 1] = 0.0
    expected = async_linucb_am(world, global_dimension=3, upload_threshold=1.1)
    agree(recorded(world), expected, {"global_dimension": 3, "upload_threshold": 1.1})


def agree(environment, expected, parameters):
    algorithm = fb.algorithm("async-linucb-am", **parameters)
    trace, wire = simulate(algorithm, environment, environment.setting().horizon)
    np.testing.assert_array_equal(trace.choice, expected["arm"])
    np.testing.assert_array_equal(np.cumsum(trace.messages), expected["messages"])
    np.testing.assert_array_equal(np.cumsum(trace.scalars), expected["scalars"])
    np.testing.assert_allclose(wire.server.state.gram, expected["V_g"], atol=1e-9)
    np.testing.assert_allclose(wire.server.state.moment, expected["b_g"], atol=1e-6)
    clients = wire.clients.state
    started = np.flatnonzero(expected["start_turn"] >= 0)
    rows = clients.row_of[started]
    np.testing.assert_array_equal(np.flatnonzero(clients.estimates.started), np.sort(rows))
    np.testing.assert_allclose(clients.local.gram[rows], expected["V_l"][started], atol=1e-9)
    np.testing.assert_allclose(clients.estimates.global_estimate[rows], expected["theta_g"][started], atol=1e-6)
    np.testing.assert_allclose(clients.estimates.local_estimate[rows], expected["theta_l"][started], atol=1e-6)


def test_nothing_of_the_global_part_is_lost_or_counted_twice():
    world = fb.environment("personal", clients=20, arms=6, dimension=6, global_dimension=4)
    algorithm = fb.algorithm("async-linucb-am", global_dimension=4, upload_threshold=1.3, download_threshold=2)
    trace, wire = simulate(algorithm, world, 1500, seed=3)
    clients, server = wire.clients.state, wire.server.state
    chosen = np.concatenate(
        [block.features[np.arange(len(block)), trace.choice[:1500][first : first + len(block)]]
         for first, block in zip(range(0, 1500, 500), world.turns(1500, 3, 500), strict=True)]
    )  # fmt: skip
    started = clients.estimates.started[clients.row_of[trace.client]]
    shared = chosen[started, :4]
    total = server.gram + clients.rows.new_gram.sum(axis=0)
    np.testing.assert_allclose(total, shared.T @ shared, atol=1e-8)
    assert started.sum() > 1000


def test_one_turn_at_a_time_it_does_what_it_does_in_blocks(recorded):
    turns = personal_turns(seed=5, turns=120, clients=3, arms=5, dimension=4, global_dimension=2)
    whole = fb.run("async-linucb-am", recorded(turns), global_dimension=2, upload_threshold=1.2)
    shape = {"dimension": 4, "clients": 3, "global_dimension": 2, "upload_threshold": 1.2}
    clients = [fb.Client("async-linucb-am", number=number, **shape) for number in range(3)]
    server = fb.Server("async-linucb-am", **shape)
    chosen = []
    for turn, number in enumerate(turns["client"]):
        chosen.append(clients[number].choose(turns["arms"][turn]))
        for envelope in clients[number].learn(turns["reward"][turn, chosen[-1]]):
            for answer in server.receive(envelope):
                for client in clients:
                    client.receive(answer)
    np.testing.assert_array_equal(chosen, whole.choice)


@pytest.mark.parametrize("exploration", ["thompson", "perturbed"])
@pytest.mark.parametrize("world", [{"shared_features": True}, {"global_dimension": 4}, {"global_dimension": 3}])
def test_it_may_explore_by_samples_of_both_parts(exploration, world):
    place = fb.environment("personal", clients=4, arms=6, dimension=4, global_dimension=4)
    run = fb.run("async-linucb-am", place, turns=800, exploration=exploration, alpha=0.2, **world)
    again = fb.run("async-linucb-am", place, turns=800, exploration=exploration, alpha=0.2, **world)
    np.testing.assert_array_equal(run.choice, again.choice)
    assert run.regret[-1] < 0.5 * chance(place, 800)


def chance(world, turns):
    block = next(world.turns(turns, 0, turns))
    return (block.outcomes.mean.max(axis=1) - block.outcomes.mean.mean(axis=1)).sum()


def test_more_shared_features_cost_more_messages_and_less_regret():
    totals = []
    for size in (3, 8, 9):
        world = fb.environment("personal", clients=100, arms=10, dimension=9, global_dimension=size)
        runs = [
            fb.run("async-linucb-am", world, turns=4000, seed=seed, global_dimension=size, upload_threshold=5,
                   download_threshold=5)
            for seed in range(3)
        ]  # fmt: skip
        totals.append((np.mean([run.regret[-1] for run in runs]), np.mean([run.messages[-1] for run in runs])))
    regret, messages = zip(*totals, strict=True)
    assert regret[0] > regret[1] > regret[2]
    assert messages[0] < messages[1]


def test_on_clients_that_differ_it_beats_one_model_for_all():
    world = fb.environment("personal", clients=4, arms=8, dimension=6, global_dimension=2)
    apart = fb.run("async-linucb-am", world, turns=2000, alpha=0.2, global_dimension=2)
    alike = fb.run("async-linucb", world, turns=2000, alpha=0.2)
    assert apart.regret[-1] < 0.5 * alike.regret[-1]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"global_dimension": 0}, "global_dimension must be at least 1, not 0"),
        ({"alternations": 0}, "alternations must be at least 1, not 0"),
        ({"shared_features": "maybe"}, "shared_features must be true or false"),
        ({"global_dimension": 2.5}, "global_dimension must be a whole number"),
        ({"upload_threshold": 0.5}, "upload_threshold must be at least 1"),
    ],
)
def test_bad_parameters_are_refused_with_their_name(parameters, sentence):
    with pytest.raises(fb.InvalidInput, match=sentence):
        fb.algorithm("async-linucb-am", **parameters)


def test_more_shared_features_than_features_are_refused():
    world = fb.environment("personal", clients=2, arms=3, dimension=4)
    with pytest.raises(fb.InvalidInput, match="global_dimension=5, but arms have 4 features"):
        fb.run("async-linucb-am", world, turns=10, global_dimension=5)


def test_without_a_number_half_of_the_features_are_shared():
    world = fb.environment("personal", clients=5, arms=4, dimension=5)
    default = fb.run("async-linucb-am", world, turns=200, upload_threshold=1)
    explicit = fb.run("async-linucb-am", world, turns=200, upload_threshold=1, global_dimension=3)
    np.testing.assert_array_equal(default.choice, explicit.choice)
    assert default.scalars[-1] == default.messages[-1] * (9 + 3) > 0


def lacking(recorded, feature, turns=120, clients=3):
    """A world whose arms have one feature that follows from another, or None that does."""
    world = personal_turns(seed=0, turns=turns, clients=clients, arms=4, dimension=4, global_dimension=2)
    if feature is not None:
        world["arms"][:, :, feature] = 2.0 * world["arms"][:, :, feature - 1]
    return recorded(world)


def test_features_that_never_reach_full_rank_are_told_at_the_end_of_a_run(recorded):
    result = fb.run("async-linucb-am", lacking(recorded, 3), global_dimension=2, upload_threshold=1.1)
    (warning,) = result.warnings
    assert warning.startswith("async-linucb-am has not started at 3 of 3 clients: after ")
    assert "the arms chosen have rank 3 of 4, so it still decides by plain LinUCB and uploads nothing" in warning
    assert warning.endswith("or run async-linucb, which needs no full rank")
    assert result.uploads == 0


def test_nothing_is_told_of_clients_that_have_started(recorded):
    assert fb.run("async-linucb-am", lacking(recorded, None), global_dimension=2).warnings == ()


def test_where_nobody_has_started_by_the_end_it_is_said_however_few_turns_there_were(recorded):
    (few,) = fb.run("async-linucb-am", lacking(recorded, None, turns=6), global_dimension=2).warnings
    assert few == (
        "async-linucb-am has sent nothing, as no client has started: each has had about 2 turns, and at least 4 are "
        "needed: give more turns, or fewer clients or features"
    )
    (rank,) = fb.run("async-linucb-am", lacking(recorded, 3, turns=15), global_dimension=2).warnings
    assert "the arms chosen have rank 3 of 4" in rank


def test_a_site_is_told_nothing_in_its_first_turns(caplog):
    with fb.Site("async-linucb-am", dimension=4, fresh=1) as site:
        for _ in range(3):
            site.learn(site.choose(np.eye(4)), 1.0)
    assert caplog.messages == []


def test_who_starts_by_what_others_shared_is_told_nothing_of_its_own_rank(recorded):
    world = personal_turns(seed=0, turns=200, clients=3, arms=4, dimension=4, global_dimension=2)
    world["arms"][world["client"] == 0, :, 3] = 0.0
    shared = {"global_dimension": 2, "upload_threshold": 1.0, "download_threshold": 1.0}
    assert fb.run("async-linucb-am", recorded(world), **shared).warnings == ()

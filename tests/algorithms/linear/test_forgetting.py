"""Forgetting equals the literal transcription, turn by turn, and its sums are exact."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.bounds import Bounds
from fedbandit.simulation.in_process import simulate
from reference import forgetting as reference
from reference.recorded import linear_turns
from samples.runs import assert_same_trace
from samples.worlds import recorded

CASES = [
    ("async-linucb", reference.async_linucb, {"upload_threshold": 1.2, "download_threshold": 2.0}),
    ("async-linucb", reference.async_linucb, {"upload_threshold": 2.0, "download_threshold": 1.1}),
    ("async-linucb", reference.async_linucb, {"upload_threshold": 5.0, "download_threshold": 20.0}),
    ("sync-linucb", reference.sync_linucb, {"sync_threshold": 0.5}),
    ("sync-linucb", reference.sync_linucb, {"sync_threshold": 5.0}),
    ("pooled-linucb", reference.pooled_linucb, {}),
    ("fedlinucb", reference.fedlinucb, {"upload_threshold": 1.2}),
    ("fedlinucb", reference.fedlinucb, {"upload_threshold": 2.0, "use_own": True}),
    ("lean-linucb", reference.lean_linucb, {"upload_threshold": 1.2, "download_threshold": 2.0}),
    ("lean-linucb", reference.lean_linucb, {"upload_threshold": 1.1, "download_threshold": 5.0, "delivery": "upload"}),
]


def world(seed=0, turns=400, every=25, **sizes):
    """A linear world whose epochs have so many turns; two of them have none."""
    made = linear_turns(seed=seed, turns=turns, **{"clients": 7, "arms": 5, "dimension": 4, "skew": 1.0, **sizes})
    epoch = np.arange(turns) // every
    made["epoch"] = epoch + 2 * (epoch > 5)
    return made


def play(folder, arrays, name, **parameters):
    environment = recorded(folder, arrays)
    if name == "lean-linucb":
        parameters["precision"] = "float64"
    return simulate(fb.algorithm(name, **parameters), environment, len(arrays["client"]))


def assert_same(trace, wire, literal):
    assert trace.choice.tolist() == literal["arm"].tolist()
    assert np.cumsum(trace.messages).tolist() == literal["messages"].tolist()
    assert np.cumsum(trace.scalars).tolist() == literal["scalars"].tolist()
    assert wire.ledger.uploads == literal["uploads"]


@pytest.mark.parametrize("discount", [0.9, 0.6, 0.2])
@pytest.mark.parametrize(("name", "literally", "thresholds"), CASES)
def test_it_equals_the_transcription(tmp_path, name, literally, thresholds, discount):
    arrays = world()
    literal = literally(arrays, discount=discount, **thresholds)
    trace, wire = play(tmp_path, arrays, name, discount=discount, **thresholds)
    assert_same(trace, wire, literal)
    last = int(arrays["epoch"][-1])
    np.testing.assert_allclose(wire.server.state.gram, literal["server"].age(last).v, atol=1e-9)
    np.testing.assert_allclose(wire.server.state.moment, literal["server"].age(last).b, atol=1e-9)


def test_clients_alone_forget_too(tmp_path):
    arrays = world(seed=1)
    literal = reference.async_linucb(arrays, discount=0.5, upload_threshold=np.inf, download_threshold=np.inf)
    assert_same(*play(tmp_path, arrays, "local-linucb", discount=0.5), literal)


@pytest.mark.parametrize("name", ["async-linucb", "sync-linucb", "local-linucb", "pooled-linucb"])
def test_a_discount_of_one_changes_nothing_whatever_the_epochs(tmp_path, name):
    arrays = world(seed=2)
    forgetting, _ = play(tmp_path, arrays, name, discount=1.0)
    del arrays["epoch"]
    assert_same_trace(forgetting, play(tmp_path, arrays, name)[0])


@pytest.mark.parametrize("name", ["async-linucb", "sync-linucb"])
def test_what_all_have_is_the_discounted_sum_of_all_observations_exactly(tmp_path, name):
    """Discount 1/2, features and rewards in sixteenths, at most 30 epochs: sums of doubles are exact."""
    rng = np.random.default_rng(3)
    arrays = world(seed=3, turns=300, every=12, clients=5)
    arrays["arms"] = rng.integers(-16, 17, arrays["arms"].shape) / 16
    arrays["reward"] = rng.integers(-16, 17, arrays["reward"].shape) / 16
    trace, wire = play(tmp_path, arrays, name, discount=0.5)
    assert 20 < arrays["epoch"][-1] <= 30
    turn = np.arange(300)
    x, y = arrays["arms"][turn, trace.choice], arrays["reward"][turn, trace.choice]
    weight = 0.5 ** (arrays["epoch"][-1] - arrays["epoch"])
    cohort, server = wire.clients.state, wire.server.state
    used = int(cohort.used[0])
    gram = server.gram + cohort.rows.new_gram[:used].sum(axis=0)
    moment = server.moment + cohort.rows.new_moment[:used].sum(axis=0)
    assert trace.ledger.uploads > 0
    np.testing.assert_array_equal(gram, np.einsum("t,ti,tj->ij", weight, x, x))
    np.testing.assert_array_equal(moment, (weight * y) @ x)


def test_after_idle_epochs_the_estimate_is_that_of_what_is_left(tmp_path):
    arrays = world(seed=4, turns=60, every=60, clients=1)
    arrays["epoch"][-1] += 7  # the last turn comes seven epochs later
    _, before = play(tmp_path, {name: each[:-1] for name, each in arrays.items()}, "local-linucb", discount=0.8)
    rows = before.clients.state.rows
    gram, moment = 0.8**7 * rows.gram[0], 0.8**7 * rows.moment[0]
    before.clients.side.age(before.clients.state, 0.8**7)
    expected = np.linalg.solve(gram + 0.1 * np.eye(4), moment)
    np.testing.assert_allclose(rows.estimate[0], expected, atol=1e-10)
    assert rows.log_det[0] == pytest.approx(np.linalg.slogdet(gram + 0.1 * np.eye(4))[1])


def test_the_end_of_an_epoch_never_raises_what_triggers_an_upload(tmp_path):
    _, wire = play(tmp_path, world(seed=5), "async-linucb", discount=0.7, upload_threshold=3.0)
    rows, used = wire.clients.state.rows, int(wire.clients.state.used[0])
    for _ in range(20):
        before = rows.growth[:used].copy()
        wire.clients.side.age(wire.clients.state, 0.7)
        assert (rows.growth[:used] <= before + 1e-12).all()


def test_lots_forget_how_far_off_predictions_were(tmp_path):
    arrays = world(seed=6)
    _, wire = play(tmp_path, arrays, "pooled-linucb", exploration="igw", discount=0.5)
    weight = 0.5 ** (arrays["epoch"][-1] - arrays["epoch"])
    assert wire.clients.state.errors.turns[0] == pytest.approx(weight.sum())


def test_communication_goes_on_where_things_are_forgotten(tmp_path):
    arrays = world(seed=7, turns=2000, every=20)
    kept, _ = play(tmp_path, arrays, "async-linucb")
    forgetting, _ = play(tmp_path, arrays, "async-linucb", discount=0.5)
    assert kept.messages[1000:].sum() < 0.5 * kept.messages[:1000].sum()
    assert forgetting.messages[1000:].sum() > 0.8 * forgetting.messages[:1000].sum()


def test_epochs_of_a_length_are_those_of_a_file(tmp_path):
    arrays = world(seed=8)
    arrays["epoch"] = np.arange(400) // 25
    by_file, _ = play(tmp_path, arrays, "async-linucb", discount=0.5)
    del arrays["epoch"]
    recorded(tmp_path, arrays)
    environment = fb.environment("recorded", path=str(tmp_path / "turns.npz"), epoch_length=25)
    by_length, _ = simulate(fb.algorithm("async-linucb", discount=0.5), environment, 400)
    assert_same_trace(by_file, by_length)


def test_a_discount_without_epochs_is_refused():
    with pytest.raises(fb.InvalidInput, match=r"discount=0.5 forgets when epochs end, but this world has none"):
        fb.run("async-linucb", fb.environment("linear", clients=3), turns=30, discount=0.5)


def hand_in_hand(client, server):
    """Carry all that a client sends, and what follows from it, at once."""

    def carry(envelopes):
        for envelope in envelopes:
            for answer in server.receive(envelope):
                carry(client.receive(answer))

    return carry


@pytest.mark.parametrize("precision", ["float64", "float32", "float16"])
@pytest.mark.parametrize("delivery", ["turn", "upload"])
def test_clients_by_hand_forget_as_in_a_simulation(tmp_path, delivery, precision):
    """Questions tell eigenvalues, uploads and answers are rounded: the simulation sends the same messages."""
    arrays = world(seed=9, turns=120, every=10, clients=1)
    parameters = {"discount": 0.7, "upload_threshold": 1.3, "download_threshold": 1.0, "delivery": delivery}
    environment = recorded(tmp_path, arrays)
    trace, wire = simulate(fb.algorithm("lean-linucb", precision=precision, **parameters), environment, 120)
    sizes = {"dimension": 4, "clients": 1}
    client = fb.Client("lean-linucb", precision=precision, **sizes, **parameters)
    server = fb.Server("lean-linucb", precision=precision, **sizes, **parameters)
    carry, chosen = hand_in_hand(client, server), []
    for turn in range(120):
        for node in (client, server):
            node.tick(int(arrays["epoch"][turn]))
        carry(client.ask())
        chosen.append(client.choose(arrays["arms"][turn]))
        carry(client.learn(arrays["reward"][turn, chosen[-1]]))
    assert chosen == trace.choice.tolist()
    np.testing.assert_array_equal(server.node.state.gram, wire.server.state.gram)


@pytest.mark.parametrize("exploration", ["ucb", "igw"])
def test_a_late_reward_counts_as_if_it_had_come_at_once(exploration):
    """And then had faded with its epoch: sums, errors of predictions, the inverse and what triggers an upload."""
    rng = np.random.default_rng(10)
    arms, rewards = rng.standard_normal((20, 5, 4)) / 2, rng.standard_normal(20)
    sites = [
        fb.Client("async-linucb", dimension=4, upload_threshold=np.inf, discount=0.6, exploration=exploration)
        for _ in range(2)
    ]
    for site in sites:
        for turn in range(19):
            site.choose(arms[turn])
            site.learn(rewards[turn])
        site.choose(arms[19])
    at_once, late = sites
    at_once.learn(rewards[19])
    for site in sites:
        site.tick(3)
    late.learn(rewards[19])
    one, other = (site.node.state for site in sites)
    for name in one.rows._fields:
        if name != "updates":
            np.testing.assert_allclose(
                getattr(other.rows, name)[0], getattr(one.rows, name)[0], atol=1e-12, err_msg=name
            )
    if exploration == "igw":
        np.testing.assert_allclose(other.errors.squares[0], one.errors.squares[0])
        np.testing.assert_allclose(other.errors.turns[0], one.errors.turns[0])


def test_a_question_that_comes_in_a_later_epoch_is_judged_by_what_is_left_of_the_copy():
    """The level is the sum of log(discount^k mu + ridge), whatever the server's epoch is."""
    sides = fb.algorithm("lean-linucb", discount=0.5, precision="float64").federation(fb.Setting(1, 2, 3, 1))
    copy = np.diag([4.0, 2.0, 0.0])
    question = sides.clients.way.question(np.array([0]), np.linalg.eigvalsh(copy)[np.newaxis])
    aged = sides.server.aged(question, 0.5**3)
    assert aged.level_of(0, 0.1) == pytest.approx(np.linalg.slogdet(copy / 8 + 0.1 * np.eye(3))[1])
    assert question.is_signal()
    wrong, state = sides.clients.way.question(np.array([0]), np.array([[1.0, 1.0, -0.2]])), sides.server.start(1)
    with pytest.raises(fb.ProtocolError, match="level is -inf"):
        sides.server.check(state, 0, wrong, Bounds(), 0)


@pytest.mark.parametrize("name", ["async-linucb", "sync-linucb", "fedlinucb", "lean-linucb", "local-linucb"])
def test_a_site_needs_the_length_of_epochs(name):
    with pytest.raises(fb.InvalidInput, match=r"discount=0.5 forgets when epochs end: give epoch_seconds, as in"):
        fb.Site(name, dimension=2, clients=2, discount=0.5)
    fb.Site(name, dimension=2, clients=2, discount=0.5, epoch_seconds=60)


@pytest.mark.parametrize("discount", [0.0, 1.5, "much"])
def test_a_discount_that_is_none_is_refused(discount):
    with pytest.raises(fb.InvalidInput, match="discount must be"):
        fb.algorithm("async-linucb", discount=discount)


@pytest.mark.parametrize("name", ["async-linucb-am", "clustered-linucb"])
def test_what_cannot_forget_has_no_discount(name):
    with pytest.raises(fb.InvalidInput, match="has no parameter 'discount'"):
        fb.algorithm(name, discount=0.5)

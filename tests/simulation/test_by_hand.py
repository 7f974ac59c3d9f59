"""One client at a time, with envelopes carried by hand, is the same algorithm as the simulation."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from reference.recorded import linear_turns
from samples.worlds import recorded, step_by_hand

CASES = [
    ("async-linucb", {}),
    ("async-linucb", {"upload_threshold": 1.0, "download_threshold": 1.0}),
    ("async-linucb", {"upload_threshold": (1.1, 3, 1.5, np.inf), "download_threshold": (1.5, 1.2, np.inf, 2)}),
    ("async-linucb", {"exploration": "thompson", "upload_threshold": 1.2}),
    ("async-linucb", {"exploration": "perturbed", "upload_threshold": 1.2}),
    ("sync-linucb", {}),
    ("sync-linucb", {"sync_threshold": 0.0}),
    ("sync-linucb", {"sync_threshold": 5.0, "exploration": "thompson"}),
    ("local-linucb", {}),
]


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_clients_and_server_by_hand_choose_and_send_exactly_what_a_run_does(tmp_path, name, parameters):
    world = linear_turns(seed=3, turns=120, clients=4, arms=5, dimension=3, skew=0.8)
    result = fb.run(name, recorded(tmp_path, world), seed=7, **parameters)
    choices, counted = step_by_hand(world, name, seed=7, **parameters)
    assert choices == result.choice.tolist()
    assert counted == list(zip(result.messages.tolist(), result.scalars.tolist(), result.bytes.tolist(), strict=True))
    assert (name == "local-linucb") == (counted[-1][0] == 0)


def test_an_algorithm_may_be_given_as_an_object():
    client = fb.Client(fb.algorithm("async-linucb", ridge=2), dimension=2)
    assert client.algorithm.ridge == 2.0


def test_a_download_for_others_changes_nothing():
    server = fb.Server("async-linucb", dimension=2, clients=2, upload_threshold=1, download_threshold=1)
    sites = [
        fb.Client("async-linucb", dimension=2, clients=2, number=each, upload_threshold=1, download_threshold=1)
        for each in range(2)
    ]
    answers = []
    for site in sites:
        site.choose(np.eye(2))
        for envelope in site.learn(1.0):
            answers += server.receive(envelope)
    assert [answer.clients.tolist() for answer in answers] == [[0, 1]]
    for_the_first = answers[0].only(np.array([0]))
    untouched = sites[1].node.state.slot_of.tolist()
    assert sites[1].receive(for_the_first) == []
    assert sites[1].node.state.slot_of.tolist() == untouched
    sites[0].receive(for_the_first)
    assert sites[0].node.state.slot_of.tolist() != untouched


def test_the_array_of_arms_may_be_used_again_between_choosing_and_learning():
    arms = np.eye(2)
    one, other = (fb.Client("async-linucb", dimension=2, upload_threshold=1) for _ in range(2))
    one.choose(arms)
    other.choose(arms.copy())
    arms[:] = 0.0
    assert (one.learn(1.0)[0].message.gram == other.learn(1.0)[0].message.gram).all()


def client():
    return fb.Client("async-linucb", dimension=2, clients=3, number=1)


BAD_ARMS = {
    "another dimension": (np.ones((4, 3)), "arms has shape (4, 3), but (K, 2) is needed: reshape it"),
    "one arm without its axis": (np.ones(2), "arms has shape (2,), but (K, 2) is needed: reshape it"),
    "three axes": (np.ones((1, 4, 2)), "arms has shape (1, 4, 2), but (K, 2) is needed: reshape it"),
    "no arms": (np.ones((0, 2)), "arms has shape (0, 2), but (K, 2) is needed: reshape it"),
    "a number": (3.0, "arms has shape (), but (K, 2) is needed: reshape it"),
    "not a number": ([[0, 1], [np.nan, 1]], "arms[1] is not finite: give finite features"),
    "infinite": ([[0, -np.inf]], "arms[0] is not finite: give finite features"),
    "words": ([["a", "b"]], "arms must hold numbers in rows of one length: give an array of floats"),
    "ragged": ([[1, 2], [1]], "arms must hold numbers in rows of one length: give an array of floats"),
    "nothing": (None, "arms must hold numbers in rows of one length: give an array of floats"),
}


@pytest.mark.parametrize("case", BAD_ARMS)
def test_bad_arms_are_refused_in_one_sentence_and_change_nothing(case):
    arms, sentence = BAD_ARMS[case]
    site = client()
    with pytest.raises(InvalidInput) as error:
        site.choose(arms)
    assert str(error.value) == sentence
    with pytest.raises(InvalidInput, match="without a choice before it"):
        site.learn(1.0)


@pytest.mark.parametrize("reward", [np.nan, np.inf, None, "much", [1, 2], {}])
def test_a_bad_reward_is_refused_and_the_choice_can_still_be_learnt_from(reward):
    site = client()
    site.choose(np.eye(2))
    with pytest.raises(InvalidInput) as error:
        site.learn(reward)
    assert str(error.value) == f"reward must be a finite number, not {reward!r}: give what the decision earned"
    site.learn(0.5)


def test_learning_needs_a_choice_each_time():
    site = client()
    with pytest.raises(InvalidInput, match=r"learn\(0.5\) without a choice before it: call choose first"):
        site.learn(0.5)
    site.choose(np.eye(2))
    site.learn(0.5)
    with pytest.raises(InvalidInput, match="call choose first"):
        site.learn(0.5)


BAD_STARTS = [
    ({"number": 3, "clients": 3}, "number must be from 0 to 2 with clients=3, not 3: give one of these"),
    ({"number": -1, "clients": 3}, "number must be from 0 to 2 with clients=3, not -1: give one of these"),
    ({"number": 0.5, "clients": 3}, "number must be from 0 to 2 with clients=3, not 0.5: give one of these"),
    ({"clients": 0}, "clients must be a whole number of at least 1, not 0: give how many there are"),
    ({"dimension": 0}, "dimension must be a whole number of at least 1, not 0: give how many there are"),
    ({"dimension": 2.5}, "dimension must be a whole number of at least 1, not 2.5: give how many there are"),
    ({"arms": -1}, "arms must be a whole number of at least 1, not -1: give how many there are"),
    ({"horizon": None}, "horizon must be a whole number of at least 1, not None: give how many there are"),
    ({"seed": -1}, "seed must be a whole number of at least 0, not -1: give one"),
    ({"seed": "x"}, "seed must be a whole number of at least 0, not 'x': give one"),
    ({"ridge": -1}, "ridge must be greater than 0, not -1: give a number in that range"),
    ({"rigde": 1}, "async-linucb has no parameter 'rigde': did you mean 'ridge'?"),
    (
        {"clients": 3, "upload_threshold": (2, 3)},
        "upload_threshold lists 2 values for 3 clients: give one number, or one for each client",
    ),
]


@pytest.mark.parametrize(("how", "sentence"), BAD_STARTS)
def test_a_client_that_cannot_be_is_refused_in_one_sentence(how, sentence):
    with pytest.raises(InvalidInput) as error:
        fb.Client("async-linucb", **{"dimension": 2, **how})
    assert str(error.value) == sentence


def test_a_server_that_cannot_be_is_refused_in_one_sentence():
    with pytest.raises(InvalidInput, match="clients must be a whole number of at least 1, not 0"):
        fb.Server("async-linucb", dimension=2, clients=0)
    with pytest.raises(InvalidInput, match="upload_threshold lists 2 values for 3 clients"):
        fb.Server("async-linucb", dimension=2, clients=3, upload_threshold=[2, 3])
    with pytest.raises(InvalidInput, match="unknown algorithm 'async-linucv': did you mean"):
        fb.Server("async-linucv", dimension=2, clients=3)


@pytest.mark.parametrize("make", [fb.Client, fb.Server])
def test_parameters_beside_an_algorithm_object_are_refused(make):
    with pytest.raises(InvalidInput, match=r"parameters \['ridge'\] were given beside an algorithm object"):
        make(fb.algorithm("async-linucb"), dimension=2, clients=1, ridge=3)

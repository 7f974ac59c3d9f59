"""Prompts: a synthetic pool whose scores are linear in the arms, or the scores of a user's file."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.environments.prompts import Prompts

SIZES = {"clients": 3, "arms": 4, "prompts": 9, "dimension": 5}


def block_of(world, turns=3000, seed=0):
    return next(world.turns(turns, seed, turns))


def file_of(tmp_path, **arrays):
    path = tmp_path / "prompts.npz"
    np.savez(path, **arrays)
    return str(path)


@pytest.fixture
def arrays():
    rng = np.random.default_rng(1)
    return {"embeddings": 3.0 * rng.standard_normal((6, 4)), "scores": rng.random((8, 6))}


def test_expected_scores_are_linear_in_arms_no_longer_than_1_with_a_parameter_of_length_1():
    block = block_of(Prompts(**SIZES))
    arms, mean = block.features.reshape(-1, 6), block.outcomes.mean.ravel()
    theta = np.linalg.lstsq(arms, mean, rcond=None)[0]
    np.testing.assert_allclose(arms @ theta, mean, atol=1e-12)
    assert np.linalg.norm(theta) == pytest.approx(1.0)
    np.testing.assert_allclose(np.linalg.norm(arms, axis=1), 1.0)
    assert ((mean >= 0) & (mean <= 1)).all()


def test_a_score_is_the_share_of_questions_that_a_prompt_was_right_about():
    block = block_of(Prompts(**SIZES, questions=4))
    right = 4 * block.outcomes.payoff
    assert set(np.unique(right)) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    assert (block.outcomes.payoff - block.outcomes.mean).mean() == pytest.approx(0.0, abs=0.01)
    spread = block.outcomes.mean * (1 - block.outcomes.mean) / 4
    assert ((block.outcomes.payoff - block.outcomes.mean) ** 2).mean() == pytest.approx(spread.mean(), rel=0.05)


def test_the_prompts_of_a_turn_are_distinct_members_of_one_pool():
    block = block_of(Prompts(**SIZES))
    pool = np.unique(block.features.reshape(-1, 6).round(12), axis=0)
    assert len(pool) == 9
    for offer in block.features[:50]:
        assert len(np.unique(offer.round(12), axis=0)) == 4


def test_a_file_gives_its_scores(tmp_path, arrays):
    world = Prompts(clients=3, arms=6, path=file_of(tmp_path, **arrays))
    assert world.setting() == fb.Setting(clients=3, arms=6, dimension=5, horizon=300)
    block = block_of(world)
    longest = np.linalg.norm(arrays["embeddings"], axis=1).max()
    place = np.abs(
        block.features[:, :, np.newaxis, 1:] * np.sqrt(2) - arrays["embeddings"] / longest
    ).sum(axis=-1).argmin(axis=-1)  # fmt: skip
    assert (np.sort(place, axis=1) == np.arange(6)).all()
    np.testing.assert_allclose(block.features[:, :, 0], 1 / np.sqrt(2))
    np.testing.assert_allclose(block.outcomes.mean, arrays["scores"].mean(axis=0)[place])
    for turn in range(50):
        asked = np.abs(arrays["scores"][:, place[turn]] - block.outcomes.payoff[turn]).sum(axis=1)
        assert asked.min() == pytest.approx(0.0)
    assert block.outcomes.payoff.mean() == pytest.approx(arrays["scores"].mean(), abs=0.01)


def test_where_questions_have_embeddings_arms_are_products_and_regret_is_that_of_the_question(tmp_path, arrays):
    questions = np.random.default_rng(2).standard_normal((8, 2))
    world = Prompts(clients=3, arms=3, path=file_of(tmp_path, **arrays, questions=questions))
    assert world.setting().dimension == 5 * 3
    block = block_of(world, turns=40)
    np.testing.assert_array_equal(block.outcomes.mean, block.outcomes.payoff)
    prompts = np.pad(arrays["embeddings"] / np.linalg.norm(arrays["embeddings"], axis=1).max(), ((0, 0), (1, 0)),
                     constant_values=1.0)  # fmt: skip
    asked = np.pad(questions / np.linalg.norm(questions, axis=1).max(), ((0, 0), (1, 0)), constant_values=1.0)
    products = np.array([[np.outer(p, q).ravel() / 2 for p in prompts] for q in asked])
    for turn in range(40):
        for arm in range(3):
            distance = np.abs(products - block.features[turn, arm]).sum(axis=-1)
            question, prompt = np.unravel_index(distance.argmin(), distance.shape)
            assert distance.min() == pytest.approx(0.0, abs=1e-12)
            assert block.outcomes.payoff[turn, arm] == arrays["scores"][question, prompt]
    assert np.linalg.norm(block.features, axis=-1).max() <= 1 + 1e-12


def test_another_file_of_the_same_name_is_another_world(tmp_path, arrays):
    world = Prompts(clients=3, arms=6, path=file_of(tmp_path, **arrays))
    before = world.fingerprint()
    file_of(tmp_path, embeddings=arrays["embeddings"], scores=arrays["scores"] + 1)
    again = Prompts(clients=3, arms=6, path=world.path)
    assert again.fingerprint() != before
    assert block_of(again).outcomes.payoff.min() >= 1


def test_federated_clients_find_good_prompts_sooner():
    world = Prompts(clients=20, arms=20)
    alone, together = (
        fb.run(name, world, turns=1500, noise=0.15).regret[-1] for name in ("local-linucb", "sync-linucb")
    )
    assert together < 0.7 * alone


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"scores": np.zeros((8, 5))}, "scores has shape (8, 5), but (n, 6) with n at least 1 is needed: reshape it"),
        ({"scores": np.zeros((0, 6))}, "scores in {path} is empty: give at least one row"),
        ({"questions": np.zeros((7, 2))},
         "questions has shape (7, 2), but (8, n) with n at least 1 is needed: reshape it"),
        ({"embeddings": np.full((6, 4), np.nan)}, "embeddings[0, 0] is nan: every value must be finite"),
    ],
)  # fmt: skip
def test_a_file_that_does_not_fit_is_refused_in_one_sentence(tmp_path, arrays, change, sentence):
    path = file_of(tmp_path, **{**arrays, **change})
    with pytest.raises(fb.InvalidInput) as error:
        Prompts(arms=3, path=path)
    assert str(error.value) == sentence.format(path=path)


def test_more_arms_than_prompts_and_a_file_that_is_not_there_are_refused(tmp_path, arrays):
    with pytest.raises(fb.InvalidInput, match="arms=10, but there are 9 prompts: give at most that many arms"):
        Prompts(**{**SIZES, "arms": 10})
    with pytest.raises(fb.InvalidInput, match="arms=25, but there are 6 prompts: give at most that many arms"):
        Prompts(path=file_of(tmp_path, **arrays))
    with pytest.raises(fb.InvalidInput, match=r"no file of prompts at 'nowhere\.npz': give the path of an \.npz"):
        Prompts(path="nowhere.npz")
    with pytest.raises(fb.InvalidInput, match="has no array 'scores'"):
        Prompts(arms=2, path=file_of(tmp_path, embeddings=np.ones((3, 2))))

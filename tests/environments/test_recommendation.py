"""Recommendation as a bandit: one arm of each turn is what the user had, the others are what the user had not."""

import shutil

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.datasets import DamagedFile, MissingData
from fedbandit.datasets.files import examples


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("FEDBANDIT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path):
    """A set of 6 users and 30 artists, each with a tag of its own, in the layout of LastFM."""
    rng = np.random.default_rng(0)
    place = tmp_path / "set"
    with examples.folder("lastfm") as path:
        shutil.copytree(path, place)
    plays = [f"{user}\t{artist}\t1" for user in range(1, 7) for artist in sorted(rng.permutation(30)[: 3 + user])]
    tags = [f"1\t{artist}\t{artist}\t1\t1\t2010" for artist in range(30)]
    (place / "artists.dat").write_text("id\tname\turl\tpictureURL\n" + "".join(f"{k}\tx\t\t\n" for k in range(30)))
    (place / "tags.dat").write_text("tagID\ttagValue\n" + "".join(f"{k}\tt{k}\n" for k in range(30)))
    (place / "user_artists.dat").write_text("\n".join(["userID\tartistID\tweight", *plays]) + "\n")
    header = "userID\tartistID\ttagID\tday\tmonth\tyear"
    (place / "user_taggedartists.dat").write_text("\n".join([header, *tags]) + "\n")
    (place / "user_friends.dat").write_text("userID\tfriendID\n1\t2\n")
    return place


def world(folder, **more):
    return fb.environment("recommendation", dataset="lastfm", path=str(folder), arms=5, dimension=30, **more)


def items(place, features):
    """Return which item each arm is, by its features."""
    known = place.data().features
    return np.array([[int(np.flatnonzero((known == arm).all(axis=1))[0]) for arm in turn] for turn in features])


def test_every_event_is_shown_once_with_others_that_the_user_has_not_had(folder):
    place = world(folder)
    data, setting = place.data(), place.setting()
    assert (setting.clients, setting.horizon) == (6, 39)
    block = next(place.turns(39, 0, 39))
    offered, right = items(place, block.features), block.outcomes.payoff.argmax(axis=1)
    np.testing.assert_array_equal(block.outcomes.payoff.sum(axis=1), 1.0)
    shown = sorted(zip(block.client.tolist(), offered[np.arange(39), right].tolist(), strict=True))
    assert shown == list(zip(data.user.tolist(), data.item.tolist(), strict=True))
    for turn in range(39):
        had = set(data.item[data.user == block.client[turn]].tolist())
        assert len(set(offered[turn].tolist())) == 5
        assert len(set(offered[turn].tolist()) & had) == 1


def test_the_right_item_stands_anywhere(folder):
    place = world(folder)
    right = np.concatenate([next(place.turns(39, seed, 39)).outcomes.payoff.argmax(axis=1) for seed in range(40)])
    np.testing.assert_allclose(np.bincount(right, minlength=5) / right.size, 0.2, atol=0.04)


def test_blocks_of_any_length_show_the_same_world(folder):
    place = world(folder)
    whole = next(place.turns(39, 3, 39))
    parts = list(place.turns(39, 3, 7))
    np.testing.assert_array_equal(np.concatenate([part.features for part in parts]), whole.features)
    np.testing.assert_array_equal(np.concatenate([part.outcomes.payoff for part in parts]), whole.outcomes.payoff)
    np.testing.assert_array_equal(np.concatenate([part.client for part in parts]), whole.client)


def test_in_rounds_all_users_act_until_the_first_has_nothing_left(folder):
    place = world(folder, arrivals="round-robin")
    assert place.setting().horizon == 6 * 4
    np.testing.assert_array_equal(next(place.turns(24, 0, 24)).client, np.tile(np.arange(6), 4))


def test_shuffled_events_let_the_active_come_in_proportion_and_uniform_ones_leave_them_for_the_end(folder):
    last = {}
    for arrivals in ("shuffled", "uniform"):
        place = world(folder, arrivals=arrivals)
        busiest = place.data().per_user().argmax()
        turns = [next(place.turns(39, seed, 39)).client for seed in range(200)]
        assert all(np.array_equal(np.bincount(each), place.data().per_user()) for each in turns)
        last[arrivals] = np.mean([each[-1] == busiest for each in turns])
    share = place.data().per_user().max() / 39
    assert abs(last["shuffled"] - share) < 0.1 < last["uniform"] - share


def test_a_random_policy_is_right_one_time_in_as_many_as_there_are_arms(folder):
    place = world(folder)
    rewards = [fb.run("random", place, seed=seed).reward[-1] for seed in range(50)]
    assert abs(np.mean(rewards) / 39 - 0.2) < 0.03


def test_learning_pays_where_users_have_a_taste(tmp_path, folder):
    plays = [f"{user}\t{artist}\t1" for user in range(1, 7) for artist in range(user % 2 * 15, user % 2 * 15 + 15)]
    (folder / "user_artists.dat").write_text("\n".join(["userID\tartistID\tweight", *plays]) + "\n")
    tags = [f"1\t{artist}\t{artist // 15}\t1\t1\t2010" for artist in range(30)]
    header = "userID\tartistID\ttagID\tday\tmonth\tyear"
    (folder / "user_taggedartists.dat").write_text("\n".join([header, *tags]) + "\n")
    place = fb.environment("recommendation", dataset="lastfm", path=str(folder), arms=5, dimension=2)
    assert fb.run("local-linucb", place).reward[-1] > 0.9 * 90
    assert fb.run("async-linucb", place).reward[-1] < 0.9 * 90  # half of the users want what the others do not


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"dataset": "lastfn"}, "unknown dataset 'lastfn': did you mean 'lastfm'"),
        ({"arms": 1}, "arms must be at least 2, not 1"),
        ({"scale": "log"}, "unknown scale 'log'"),
        ({"users": 0}, "users must be at least 1"),
    ],
)
def test_bad_parameters_are_refused_with_their_name(parameters, sentence):
    with pytest.raises(fb.InvalidInput, match=sentence):
        fb.environment("recommendation", **parameters)


def test_more_turns_than_events_and_more_arms_than_items_are_refused(folder):
    with pytest.raises(fb.InvalidInput, match="turns=40, but lastfm has 39 events"):
        fb.run("random", world(folder), turns=40)
    place = fb.environment("recommendation", dataset="lastfm", path=str(folder), arms=25, dimension=5)
    with pytest.raises(fb.InvalidInput, match="arms=25, but one user has had all but 12 of the 21 items"):
        place.setting()


def test_without_the_data_set_it_says_where_it_looked_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("FEDBANDIT_DATA", raising=False)
    with pytest.raises(MissingData, match=r"lastfm .* is not in .*: get it with `fedbandit data fetch lastfm`"):
        fb.run("random", "recommendation", turns=10)


def test_a_cut_file_is_refused_with_its_name_and_line(folder):
    file = folder / "user_taggedartists.dat"
    file.write_text(file.read_text()[:-7])
    with pytest.raises(DamagedFile, match=r"user_taggedartists.dat line 31: expected 6 columns, found 5"):
        world(folder).setting()

"""One named stream per seed and purpose; one exploration stream per client."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbandit.core.randomness import ClientStreams, stream

SEEDS = st.integers(0, 2**40)


@settings(deadline=None, max_examples=50)
@given(SEEDS, st.text(max_size=10))
def test_the_same_seed_and_purpose_give_the_same_numbers(seed, purpose):
    assert (stream(seed, purpose).random(5) == stream(seed, purpose).random(5)).all()


@settings(deadline=None, max_examples=50)
@given(SEEDS, SEEDS)
def test_another_seed_purpose_or_client_gives_other_numbers(seed, other):
    one = stream(seed, "noise").random()
    assert one != stream(seed, "arms").random()
    assert stream(seed, "noise", 0).random() != stream(seed, "noise", 1).random()
    assert (seed == other) == (one == stream(other, "noise").random())


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 4), max_size=12), st.integers(0, 12))
def test_a_client_draws_the_same_whoever_draws_between_and_however_turns_are_cut(who, cut):
    whole = ClientStreams(seed=1).normals(np.array(who, dtype=np.int64), 3)
    streams = ClientStreams(seed=1)
    parts = [streams.normals(np.array(part, dtype=np.int64), 3) for part in (who[:cut], who[cut:])]
    assert (whole == np.concatenate(parts)).all()
    for client in set(who):
        alone = ClientStreams(seed=1).normals(np.full(who.count(client), client), 3)
        assert (whole[[place for place, each in enumerate(who) if each == client]] == alone).all()


def test_the_exploration_stream_of_a_client_is_the_named_one():
    drawn = ClientStreams(seed=9).normals(np.array([7]), 4)
    assert (drawn[0] == stream(9, "exploration", 7).standard_normal(4)).all()


def test_an_algorithm_that_draws_nothing_gets_rows_without_columns():
    assert ClientStreams(seed=0).normals(np.array([0, 1]), 0).shape == (2, 0)

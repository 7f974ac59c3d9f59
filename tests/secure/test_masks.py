"""The primitives give the numbers of the specification, and nothing else opens what they seal."""

import numpy as np
import pytest

from fedbandit.core.errors import ProtocolError
from fedbandit.secure import masks, shamir
from fedbandit.secure.member import statement
from fedbandit.secure.ring import from_ring, largest, to_ring
from fedbandit.secure.unmasking import unmasked

NAME = "7:3"
KEYS = [bytes([client + 1] * 32) for client in range(4)]
SEEDS = [bytes([client + 101] * 32) for client in range(4)]
PUBLIC = {client: masks.public(key) for client, key in enumerate(KEYS)}
INPUTS = [np.array([client + 0.5, -client / 256, 0.001]) for client in range(4)]


def masked(client):
    words = to_ring(INPUTS[client], 4) + masks.mask(masks.self_seed(SEEDS[client], NAME, client), 3)
    return words + masks.pair_masks(KEYS[client], PUBLIC, NAME, client, 3)


def test_the_vector_of_the_specification():
    assert PUBLIC[0].hex().startswith("a4e09292b651c278")
    assert PUBLIC[0].hex().endswith("f8a209")
    pair = "cb66e30c8f1903b64b008ab59124bf959eb1d7aa51ec3ba96595b2aaac799002"
    assert masks.pair_seed(KEYS[0], PUBLIC[1], NAME, 0, 1).hex() == pair
    assert masks.pair_seed(KEYS[1], PUBLIC[0], NAME, 1, 0).hex() == pair
    own = masks.self_seed(SEEDS[0], NAME, 0)
    assert own.hex() == "b89fc29f85f1e356039bcbf86f8206311b91474e9107e484c52c3791c3ff8ef3"
    assert [f"{word:016x}" for word in masks.mask(own, 2).tolist()] == ["4e5b0c2ac73cfd8e", "9633e65fadf1be89"]
    y = masked(0).astype("<u8").tobytes().hex()
    assert y == "78662304528859f41fee16584df139a282c26ccfcc6074ad"


def test_the_sum_of_the_specification_without_a_site_that_left():
    there = {client: masked(client) for client in (0, 1, 3)}
    drawn = bytes(range(148))
    secrets = [*enumerate(SEEDS)]
    secrets[2] = (2, KEYS[2])
    dealt = {client: shamir.shares_of(secret, drawn, 3, range(4)) for client, secret in secrets}
    answers = {sender: b"".join(dealt[client][sender] for client in range(4)) for sender in there}
    total = from_ring(unmasked(NAME, 3, PUBLIC, range(4), there, answers))
    assert total.tolist() == [5.5, -0.015625, 50331 / 2**24]


def test_numbers_come_back_as_they_were_and_those_too_large_are_clipped():
    values = np.array([1 / 16, -(2.0**20) + 2.0**-24, 0.0])
    assert from_ring(to_ring(values, 3) + to_ring(values, 3)).tolist() == (2 * values).tolist()
    assert from_ring(to_ring(np.array([1e300, -1e300]), 4)).tolist() == [largest(4), -largest(4)]
    assert from_ring(sum(to_ring(np.array([1e300]), 4) for _ in range(4))).tolist() == [4 * largest(4)]


def test_any_threshold_of_the_shares_gives_the_secret_and_fewer_nothing():
    secret = bytes(range(32))
    shares = shamir.shares_of(secret, np.random.default_rng(1).bytes(shamir.drawn_bytes(4)), 4, range(6))
    for without in ([0, 5], [2, 3], [1, 4]):
        assert shamir.joined({c: s for c, s in shares.items() if c not in without}, 4) == secret
    assert shamir.joined({c: shares[c] for c in (0, 1, 2)}, 4) is None
    assert shamir.joined({c: shares[c] for c in (0, 1, 2)}, 3) is None, "three points give another polynomial"


def test_a_share_that_is_made_up_is_noticed_and_others_do_in_its_place():
    secret = bytes(range(32))
    shares = shamir.shares_of(secret, np.random.default_rng(2).bytes(shamir.drawn_bytes(3)), 3, range(4))
    shares[1] = bytes(65) + b"\x07"
    assert shamir.joined({c: shares[c] for c in (0, 1, 2)}, 3) is None
    assert shamir.joined(shares, 3) == secret


def test_a_parcel_opens_for_its_recipient_from_its_sender_in_its_aggregation_alone():
    sealed = masks.sealed(KEYS[0], PUBLIC[1], NAME, 0, 1, b"shares")
    assert masks.opened(KEYS[1], PUBLIC[0], NAME, 0, 1, sealed) == b"shares"
    assert masks.opened(KEYS[2], PUBLIC[0], NAME, 0, 1, sealed) is None
    assert masks.opened(KEYS[1], PUBLIC[0], "8:3", 0, 1, sealed) is None
    assert masks.opened(KEYS[1], PUBLIC[0], NAME, 1, 0, sealed) is None
    assert masks.opened(KEYS[1], bytes(32), NAME, 0, 1, sealed) is None
    back = masks.sealed(KEYS[1], PUBLIC[0], NAME, 1, 0, b"shares")
    assert back != sealed, "each direction has a key of its own"


def test_a_key_of_small_order_is_refused():
    with pytest.raises(ProtocolError, match="not a public key"):
        masks.pair_seed(KEYS[0], bytes(32), NAME, 0, 1)


def test_what_is_signed_names_the_aggregation_the_site_its_keys_and_its_observations():
    said = {
        statement(version, step, client, keys, count)
        for version in (1, 2) for step in (0, 1) for client in (0, 1) for keys in (KEYS[0], KEYS[1]) for count in (3, 4)
    }  # fmt: skip
    assert len(said) == 32

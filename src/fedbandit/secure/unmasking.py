"""How the masks come off a sum: the seeds of those who are in it, and the mask keys of those who left, from shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fedbandit.secure import masks, shamir
from fedbandit.secure.ring import Words


def unmasked(
    name: str,
    threshold: int,
    keys: Mapping[int, bytes],
    went_on: Sequence[int],
    masked: Mapping[int, Words],
    answers: Mapping[int, bytes],
) -> Words | None:
    """Return the sum of what sites have masked; None while the shares in the answers of some do not give all masks.

    The masks of sites that are in the sum for each other cancel. What they added for those who went on to mask and did
    not is taken off with the mask keys of these.
    """
    total = np.zeros(len(next(iter(masked.values()))), dtype=np.uint64)
    for client, words in masked.items():
        seed = shamir.joined(_shares_of(client, answers), threshold)
        if seed is None:
            return None
        total = total + words - masks.mask(masks.self_seed(seed, name, client), len(total))
    publics = {client: keys[client][: masks.KEY_BYTES] for client in masked}
    for client in went_on:
        if client not in masked:
            key = shamir.joined(_shares_of(client, answers), threshold)
            if key is None or masks.public(key) != keys[client][: masks.KEY_BYTES]:
                return None
            total = total + masks.pair_masks(key, publics, name, client, len(total))
    return total


def _shares_of(client: int, answers: Mapping[int, bytes]) -> dict[int, bytes]:
    """Return the shares of one site's secret by whose answer has one."""
    size = shamir.SHARE_BYTES
    found = {sender: content[client * size : (client + 1) * size] for sender, content in answers.items()}
    return {sender: part for sender, part in found.items() if any(part)}

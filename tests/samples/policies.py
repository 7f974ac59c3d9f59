"""Policies of sites that have learnt together, for all that read them."""

from __future__ import annotations

import numpy as np

import fedbandit as fb
from fedbandit.core.algorithm import Setting
from fedbandit.protocol.charter import Charter
from samples.pair import NO_LOTS, exchange, open_server, open_site

DIMENSION, ARMS = 6, 5
PARAMETERS = {"async-linucb-am": {"global_dimension": 4}}
LINEAR = [
    name
    for name in fb.algorithms
    if fb.algorithms[name].__module__.startswith("fedbandit.algorithms.linear")
    and not fb.algorithms[name].shares_raw_data
    and not fb.algorithms[name].hides_releases  # which takes no arm of any length
]


def learnt_policy(name, turns=60, **parameters):
    """The policy of one of two sites that have had so many turns and talked after each but the last few."""
    of = Charter.named(name, Setting(2, ARMS, DIMENSION, 1000), **{**PARAMETERS.get(name, {}), **parameters})
    rng, server = np.random.default_rng(1), open_server(of)
    sites = [open_site(of, number=number) for number in range(2)]
    weights = rng.standard_normal(DIMENSION) / DIMENSION
    for turn in range(turns):
        for site in sites:
            offer = rng.standard_normal((1, ARMS, DIMENSION)) / DIMENSION
            identity, decided = site.choose(offer, NO_LOTS)
            site.learn(identity, float(offer[0, decided.choices[0]] @ weights + 0.1 * rng.standard_normal()))
        if turn < turns - 3:
            exchange(server, sites)
    exchange(server, sites)  # a download that waits for the next decision
    return fb.Policy(of, 0, sites[0].version, sites[0].encoded_state())

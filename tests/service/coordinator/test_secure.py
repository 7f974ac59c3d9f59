"""Secure aggregation from the site's program to the coordinator, with certificates and a real broker."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

import fedbandit as fb
from samples.roster import serving
from samples.waiting import until

SITES = 4
TABLE = {
    "algorithm": "sync-linucb", "clients": SITES, "dimension": 2, "set": {"sync_threshold": 0.01, "smallest_upload": 1},
    "secure_aggregation": True,
}  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@contextmanager
def learning(folder, table):
    """A coordinator's server, and sites that have joined it, each with one observation."""
    with serving(folder, {"clinics": table}) as made, ExitStack() as stack:
        joined = [made.joined("clinics", f"clinic-{number}") for number in range(SITES)]
        sites = [
            fb.Site.join(each.address, credentials=each.credential, store=folder / f"{each.number}.db", patience=0.1)
            for each in joined
        ]
        for site in sites:
            stack.enter_context(site)
            site.learn(site.choose([[1.0, 0.5], [1.0, 0.5]]).id, 1.0)
        yield made.host("clinics").server, sites


@pytest.mark.slow
def test_sites_that_join_make_sums_of_which_the_coordinator_knows_no_part(tmp_path):
    with learning(tmp_path, TABLE) as (server, sites):
        until(lambda: server.node.state.gathering.finished > 0, "a sum")
        state = server.node.state.within
        held = [site.node.life.node.state.within.rows.new_gram[0] for site in sites]
        until(lambda: all(site.version for site in sites), "a download")
        total = state.gram + sum(held)
        np.testing.assert_array_equal(total, SITES * np.array([[1.0, 0.5], [0.5, 0.25]]))


@pytest.mark.slow
def test_sites_that_join_answer_the_probes_of_a_regression_under_masks(tmp_path):
    table = TABLE | {
        "algorithm": "fedglb-ucb",
        "set": {"sync_threshold": 0.01, "smallest_upload": 1, "solver": "newton", "suboptimality": 1e-6},
    }
    with learning(tmp_path, table) as (server, _):
        until(lambda: server.node.state.within.version > 0, "a model")
        assert server.node.state.gathering.finished > 2, "a sum of matrices, and gradients at several places"
        assert np.abs(server.node.state.within.model).max() > 0.1


def test_a_site_without_a_certificate_does_not_connect():
    site = fb.Site("sync-linucb", dimension=2, clients=4, secure_aggregation=True)
    with site, pytest.raises(fb.InvalidInput, match="aggregates securely, and without a certificate a site cannot"):
        site.connect("nats://127.0.0.1:4222/clinics")

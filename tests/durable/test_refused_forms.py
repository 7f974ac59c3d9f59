"""Features that cannot be added or removed: refused, and nothing is changed."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from fedbandit.algorithms.linear.shared.messages import Statistics
from fedbandit.core.errors import InvalidInput
from fedbandit.protocol.changing import changed
from fedbandit.protocol.charter import Charter
from fedbandit.wire import decode, encode
from fedbandit.wire.frame import Frame, Kind
from samples.pair import charter, turn
from samples.revising import federation, revise, state_of

ADDED, REMOVED = {"dimension": 4}, {"drop": "1"}
REFUSED = {
    "no whole number": ({"dimension": "3.5"}, "dimension must be a whole number, not '3.5'"),
    "nothing left": ({"drop": "0,1,2"}, "no feature would be left: keep one at least"),
    "a place that there is not": ({"drop": "3"}, "drop=3, but features are counted from 0 to 2"),
    "no place": ({"drop": "price"}, "drop must be places of features, counted from 0, as in drop=2, not 'price'"),
    "two that contradict each other": ({"drop": "0", "dimension": "1"}, "with drop 2 features are left"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_features_that_cannot_be_are_refused(what):
    values, words = REFUSED[what]
    server, _ = federation()
    with pytest.raises(InvalidInput, match=words):
        revise(server, values)
    assert server.agreed.count == 0


@pytest.mark.parametrize("name", ["async-linucb-am", "clustered-linucb", "fedglb-ucb", "fldb-ogd", "fedego-lasso"])
def test_of_algorithms_whose_sums_cannot_be_carried_over_features_and_ridge_stay(name):
    of = charter(name)
    for values in (ADDED, REMOVED, {"ridge": 0.5}):
        if name != "fedego-lasso" or "ridge" not in values:
            with pytest.raises(InvalidInput, match="can change only as a new federation"):
                changed(of, values)


def test_declared_features_stay():
    of = Charter.named("async-linucb", charter().setting, features="00000000000000ab")
    with pytest.raises(InvalidInput, match="dimension follows from the declared features"):
        changed(of, ADDED)


def test_a_federation_with_a_site_of_0_1_0_keeps_its_features():
    server, _ = federation()
    server.accounts.old.add(1)
    with pytest.raises(InvalidInput, match=r"site 1 runs fedbandit 0\.1\.0.* upgrade it first"):
        revise(server, ADDED)
    revise(server, {"noise": 0.5})


def test_an_upload_of_an_earlier_form_is_checked_as_one_of_that_form():
    server, sites = federation(of=charter(upload_threshold=1.0, download_threshold=1.0))
    turn(sites[0])
    (upload,) = [each for each in map(Frame.from_bytes, sites[0].commit()) if each.kind is Kind.UPLOAD][-1:]
    revise(server, ADDED)
    state = state_of(server)
    message = decode(upload.body)
    for gram, moment, words in (
        (-message.gram, message.moment, "not positive"),
        (message.gram, 1e200 * message.moment, "has a number of size"),
        (np.eye(2)[np.newaxis], np.zeros((1, 2)), r"gram of 'linear.statistics' has shape \(2, 2\), not \(3, 3\)"),
    ):
        forged = replace(upload, body=encode(Statistics(gram, moment, message.observations)))
        verdict = server.receive(forged.to_bytes(), 0.0, 0)
        assert re.search(words, verdict.reason), verdict
        assert state_of(server) == state
    strange = replace(upload, form=server.node.form + 1)
    assert "features of which this coordinator knows nothing" in server.receive(strange.to_bytes(), 0.0, 0).reason
    assert server.receive(upload.to_bytes(), 0.0, 0).outcome.value == "accepted"
    assert server.node.state.gram.shape == (4, 4)

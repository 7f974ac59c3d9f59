"""What telemetry is told of downloads comes from whoever made them: it is right whatever they hold by then."""

from __future__ import annotations

import numpy as np

from fedbandit.service.status.telemetry import Telemetry
from fedbandit.wire import decode, weigh
from fedbandit.wire.frame import Frame, Kind
from samples.pair import ARMS, NO_LOTS, charter, to_server
from samples.revising import EAGER, federation, revise


def told_of(server, told):
    """Tell of what leaves now; return the numbers in each download, weighed by itself, and its version."""
    sealed = server.seal()
    server.make_safe(sealed)
    weights = []
    for each in sealed.frames:
        told.sent(each, 1.0)
        frame = Frame.from_bytes(each.data)
        assert frame.client == each.site
        if frame.kind is Kind.DOWNLOAD:
            assert each.version == (frame.epoch, frame.sequence)
            weights.append(weigh(decode(frame.body)).scalars)
        else:
            assert each.version is None
    return weights, [(each.site, each.data) for each in sealed.frames]


def test_the_scalars_of_a_download_are_right_after_a_change_of_the_features():
    server, sites = federation(of=charter(**EAGER, download_threshold=1.0))
    told, weights = Telemetry("clinics", "async-linucb", clients=2, now=0.0), []
    for dimension in (3, 5):
        if dimension == 5:
            revise(server, {"dimension": dimension})
        for _ in range(8):
            for site in sites:
                size = site.charter.setting.dimension
                site.learn(site.choose(np.full((1, ARMS, size), 0.5), NO_LOTS)[0], 0.5)
                to_server(server, site.commit())
                found, answers = told_of(server, told)
                weights += found
                for number, data in answers:
                    sites[number].receive(data)
    assert {3 * 3 + 3, 5 * 5 + 5} == set(weights)
    assert told.totals()["scalars_down"] == sum(weights)

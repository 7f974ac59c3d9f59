"""What must hold of everything that private sites have ever sent, whatever went wrong.

An observer keeps all frames. In the worlds here each turn has a coordinate of its own and noise is tiny, so that a
release shows which observations are in it. No stream has two releases of one number that differ, nor more than were
promised; no noise hides two releases; no observation is in two streams, or twice in one. So what was seen of a site is
what one mechanism tells, of which the privacy is known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedbandit.algorithms.linear.shared.private_messages import Prefix
from fedbandit.core.algorithm import Setting
from fedbandit.core.turns import Rewards, Turns
from fedbandit.protocol.charter import Charter
from fedbandit.wire import decode

SITES, RELEASES, BATCH = 3, 6, 2


class Release(NamedTuple):
    """What an observer makes of a release: how often each turn is in it, and its noise."""

    counts: tuple[int, ...]
    noise: bytes


def quiet_charter(turns, **parameters):
    """A federation with so little noise that what is in a release can be read off."""
    given = {"epsilon": 1e6, "releases": RELEASES, "batch": BATCH} | parameters
    return Charter.named("private-linucb", Setting(SITES, 2, turns, turns), **given)


def tagged_turns(count, seed):
    """Turns of random sites; the arms of turn t are both the unit vector of coordinate t."""
    rng = np.random.default_rng([seed, 3])
    features = np.repeat(np.eye(count)[:, np.newaxis], 2, axis=1)
    return Turns(rng.integers(0, SITES, count), features, Rewards(rng.integers(0, 2, (count, 2)).astype(np.float64)))


def releases_of(run):
    """All releases that ever left a site, by site, stream and number: as many different ones as there were."""
    found: dict[tuple[int, int, int], set[Release]] = {}
    for (site, _, _), bodies in run.history.uploads.items():
        for message in map(decode, bodies):
            if isinstance(message, Prefix) and message.release[0]:
                counts = np.rint(np.diagonal(message.gram[0])).astype(int)
                noise = np.triu(message.gram[0] - np.diag(counts))
                release = Release(tuple(counts.tolist()), noise.tobytes())
                found.setdefault((site, int(message.stream[0]), int(message.release[0])), set()).add(release)
    return found


def assert_private(run):
    """All of the above."""
    found = releases_of(run)
    for (site, stream, number), forms in found.items():
        assert len(forms) == 1, f"release {number} of stream {stream} of site {site} left in {len(forms)} forms"
        assert 1 <= number <= run.charter.algorithm.releases
    only = {key: next(iter(forms)) for key, forms in found.items()}
    assert len({each.noise for each in only.values()}) == len(only), "noise was used twice"
    for site in range(SITES):
        last: dict[int, tuple[int, tuple[int, ...]]] = {}
        for (of, stream, number), release in only.items():
            if of == site:
                last[stream] = max(last.get(stream, (0, ())), (number, release.counts))
        times = np.sum([counts for _, counts in last.values()], axis=0) if last else np.zeros(1)
        assert times.max() <= 1, f"observations {np.flatnonzero(times > 1)} of site {site} were released twice"


def assert_kept(run):
    """The coordinator has the last release that it has taken in of each stream, bit for bit as it left."""
    state, found = run.coordinator.node.node.state, releases_of(run)
    for row in range(len(state.client)):
        (sent,) = found[int(state.client[row]), int(state.stream[row]), int(state.release[row])]
        assert tuple(np.rint(np.diagonal(state.gram[row])).astype(int).tolist()) == sent.counts
        assert state.observations[row] == sum(sent.counts)

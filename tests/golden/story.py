"""Federations whose files are kept for ever: how they are opened, how they go on, and what is known of them.

`write.py` tells the beginning of the story and writes the files of a version; the tests open them with whatever version
there is now and tell the rest. Features are multiples of 1/16 and rewards are 0 or 1, so that sums are exact.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from hashlib import sha256

import numpy as np

import fedbandit as fb
from fedbandit.core.algorithm import Setting
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.protocol.charter import Charter

SITES, ARMS, DIMENSION, HORIZON = 3, 2, 3, 60
LINEAR = {"upload_threshold": 1.0, "download_threshold": 1.0}
NEURAL = {"width": 2, "train_steps": 5, "sync_threshold": 0.0, "precision": "float64", "device": "cpu"}
FEDERATIONS = {  # by algorithm, with the parameters that make it talk often
    "async-linucb": LINEAR,
    "sync-linucb": {"sync_threshold": 0.2},
    "async-linucb-am": {**LINEAR, "global_dimension": 2, "alternations": 3},
    "fedglb-ucb": {"sync_threshold": 0.05},
    "fldb-ogd": {},
    "fedego-lasso": {"gap": 1.0},
    "fn-ucb-less": NEURAL,
}
LATER = 5_000  # no site of the files has ever had a life as great as that


def charter(name):
    return Charter.named(name, Setting(SITES, ARMS, DIMENSION, HORIZON), **FEDERATIONS[name])


def open_site(name, number, store, fresh=None, **more):
    sizes = {"clients": SITES, "arms": ARMS, "dimension": DIMENSION, "horizon": HORIZON}
    return fb.Site(
        name, number=number, store=store, fresh=LATER + number if fresh is None else fresh,
        **sizes, **FEDERATIONS[name], **more,
    )  # fmt: skip


def open_server(name, journal):
    return DurableServer(charter(name), journal, epoch=7, now=1000.0, random_below=lambda _: 0)


def offer(name, rng):
    shape = (DIMENSION,) if fb.algorithms[name].shares_context else (ARMS, DIMENSION)
    return rng.integers(-8, 9, shape) / 16


def take_turns(name, sites, rng, rounds=1):
    """Every site decides and learns, once a round."""
    for _ in range(rounds):
        for site in sites:
            decision = site.choose(offer(name, rng))
            site.learn(decision, float(rng.integers(2)))


def exchange(server, sites, now):
    """Carry everything to and fro until all is quiet."""
    for _ in range(200):
        frames = [(site.node.number, frame) for site in sites for frame in site.news()]
        for number, frame in frames:
            server.receive(frame, now, number)  # what is not taken in yet comes again when they meet again
        answers = server.commit()
        deliver(answers, sites)
        if not frames and not answers:
            return
    raise AssertionError("the exchange does not end")


def meet_again(server, sites, now):
    """What a lost connection that is made again brings: everything that was not acknowledged, until nothing is left."""
    for _ in range(20):
        for site in sites:
            for frame in site.everything():
                server.receive(frame, now, site.node.number)
        deliver(server.commit(), sites)
        exchange(server, sites, now)
        if not any(site.unsent for site in sites):
            return
    raise AssertionError("something is never acknowledged")


def deliver(answers, sites):
    here = {site.node.number: site for site in sites}
    for number, frame in answers:
        if number in here:
            here[number].hear(frame)


def go_on(name, server, sites, now=3000.0):
    """The rest of the story: what was pending is rewarded, what was unsent is sent, and more is learnt."""
    rng = np.random.default_rng(99)
    for site in sites:
        for decision in list(site.node.life.decisions.pending):
            site.learn(decision, 1.0)
    for step in range(4):
        take_turns(name, sites, rng)
        meet_again(server, sites, now + step)
        server.deadline(now + step)
        deliver(server.commit(), sites)
        exchange(server, sites, now + step)


def known_of_server(server):
    """What a coordinator knows, told without the structure in which it keeps it."""
    node, accounts = server.node, server.accounts
    windows = {f"{client} {epoch}": node.seen.look(client, epoch) for client, epoch in node.seen.windows}
    return {
        "state": portrait(node.state),
        "epoch": node.epoch,
        "sent": node.sent,
        "seen": {name: [window.up_to, window.top] for name, window in windows.items()},
        "observations": {str(site): count for site, count in accounts.observations.items()},
        "joined": {str(site): time for site, time in accounts.joined.items()},
        "closed": {f"{site} {epoch}": [each.first, each.heir] for (site, epoch), each in accounts.closed.items()},
        "latest": {str(site): [int(each.sequence) for each in some] for site, some in server.postbox.latest.items()},
        "awaited": server.awaited().tolist(),
    }


def known_of_site(name, site):
    """What a site knows, and what it would choose."""
    life = site.node.life
    return {
        "state": portrait(life.node.state),
        "epoch": life.node.epoch,
        "sent": int(life.node.sent[0]),
        "version": list(life.version),
        "pending": sorted(life.decisions.pending),
        "unsent": sorted(map(list, life.outbox.frames)),
        "refused": site.refused,
        "choices": choices(name, site.policy()),
    }


def choices(name, policy):
    """What a policy chooses from twelve offers."""
    rng = np.random.default_rng(12)
    return [portrait(policy.choose(offer(name, rng))) for _ in range(12)]


def portrait(value):
    """A value as JSON can write it, without a loss; zeros at the end of an array are left out."""
    if is_dataclass(value):
        return {each.name: portrait(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: portrait(each) for name, each in value._asdict().items()}
    if hasattr(value, "__array__") and np.ndim(value):
        array = np.asarray(value)
        return {"type": str(array.dtype), "shape": list(array.shape), "values": without_last_zeros(array)}
    if isinstance(value, np.generic) or hasattr(value, "__array__"):
        return np.asarray(value).item()
    if isinstance(value, bytes):
        return sha256(value).hexdigest()
    if isinstance(value, dict):
        return [[portrait(key), portrait(each)] for key, each in value.items()]
    if isinstance(value, list | tuple | set):
        return [portrait(each) for each in (sorted(value) if isinstance(value, set) else value)]
    return value


def without_last_zeros(array):
    flat = array.ravel()
    filled = np.flatnonzero(flat)
    return flat[: filled[-1] + 1 if filled.size else 0].tolist()

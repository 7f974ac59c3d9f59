"""`fb.advise`: which algorithm and thresholds a federation should take under a budget, from a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fedbandit.advice.advice import Advice, ExploringCost, UploadCost
from fedbandit.advice.budget import bytes_a_day
from fedbandit.advice.checks import checks_of
from fedbandit.advice.described_log import DescribedLog, describe
from fedbandit.advice.families import Family, families
from fedbandit.advice.frontier import band_of, best_few, choose, distinct, points
from fedbandit.advice.idle import idle_bytes_a_day, pause_for
from fedbandit.advice.model.fitted import fit
from fedbandit.advice.model.worlds import logged_world
from fedbandit.advice.thresholds import MOST_RUNS, Curve
from fedbandit.advice.trials import Candidate, Progress, Tried, Worlds, alone, exploring, pooled, telling_at_once
from fedbandit.advice.warm_start import DRAWS as WARM_DRAWS
from fedbandit.advice.warm_start import warm_start_of
from fedbandit.core.errors import InvalidInput
from fedbandit.core.smallest_upload import usual_smallest_upload
from fedbandit.features.features import Features
from fedbandit.files.amounts import shown_bytes
from fedbandit.logs.log import Log

TARGETS = (0.5, 0.95)  # parts of the budget that thresholds are fitted to
FIRST_WORLDS, ALL_WORLDS, FINALISTS = 4, 20, 5
BYTES_WORLDS = 40  # in which the bytes of the advised setting are predicted: half of them had no part in the choice
FAMILIES = 5  # the best ones, which are tried at other thresholds near the fitted one
STEPS, STEPS_UP = (0.5, 0.75, 1.33), (1.33, 1.77)  # by which it is multiplied; the second where it costs too much
MOST_OVER = 1.5  # beyond this part of the budget none of them brings a family within
EXPLORE = 0.02  # what the advised setting has, so that the next log can be evaluated

Place = tuple[Family, float]  # of a setting on the curve of its family


def advise(
    log: Log,
    features: Features | None = None,
    *,
    budget: str | float,
    algorithms: Sequence[str] = (),
    smallest_upload: int | None = None,
    progress: Progress | None = None,
) -> Advice:
    """Return which federation to run, or that none would have helped, from a log of past decisions.

    `budget` is what all sites together may send and be sent, as in "10 MB/day", or a number of bytes a day.
    `algorithms` restricts the comparison to some of them. `smallest_upload` are the observations that an upload rests
    on at least, with which all are tried and the advised one is deployed; by default that of every federation that is
    deployed, max(10, 2 d). `progress` is called with the runs that are done and planned.

    Arms are those of the log; who comes when, and what arms earn, is drawn from models that are fitted to it, several
    times, as far as the log leaves them open. `advice.doubts` tells whether the setting or its bytes are unsure, and
    why.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> arms, site, choice = rng.uniform(-0.5, 0.5, (600, 3, 2)), rng.integers(4, size=600), rng.integers(3, size=600)
    >>> reward = arms[np.arange(600), choice] @ [0.8, -0.4] + 0.1 * rng.standard_normal(600)
    >>> log = Log.from_arrays(site=site, arms=arms, choice=choice, reward=reward, time=np.arange(600) * 3600.0)
    >>> advice = advise(log, budget="1 kB/day", algorithms=["async-linucb"])
    >>> advice.algorithm.id, advice.choice.helps
    ('async-linucb', True)
    """
    allowed = bytes_a_day(budget)
    known = describe(log, features)
    every, idle = _idle_talk(known, allowed)
    model = fit(known.rows)
    shared = None if features is None or features.global_dimension == features.dimension else features.global_dimension
    noise = float(f"{model.noise:.4g}")  # as people would write it
    least = usual_smallest_upload(known.dimension) if smallest_upload is None else smallest_upload
    curves = families(noise, least, shared, algorithms)
    baselines = alone(noise), pooled(noise)
    worlds = Worlds(known.rows, model, progress or _unseen)
    worlds.to_run = len(curves) * (3 * MOST_RUNS + 2 * FIRST_WORLDS) + ALL_WORLDS * (FINALISTS + 2)
    worlds.to_run += (len(STEPS) * FAMILIES + 2) * FIRST_WORLDS + BYTES_WORLDS - ALL_WORLDS + 2 * WARM_DRAWS + 1
    spendable = min((allowed - idle) * known.days, known.raw_bytes)
    field = _fitted(curves, spendable, worlds)
    first = worlds.try_all([*field, *baselines], FIRST_WORLDS)
    first = worlds.try_all(dict.fromkeys([*field, *around(field, first, spendable), *baselines]), FIRST_WORLDS)
    tried = finals(worlds, first, baselines, spendable)
    choice = choose(tried, baselines[0], spendable)
    sent = worlds.try_all([choice.candidate], BYTES_WORLDS).bytes[0]
    best = choice.candidate if choice.helps else best_few(tried, baselines, 1, spendable)[0]
    return Advice(
        log=known, budget=allowed, every=every, idle=idle, choice=choice,
        points=tuple(
            replace(each, bytes=float(sent.mean())) if each.candidate == choice.candidate else each
            for each in points(tried, *baselines, spendable)
        ),
        screened=tuple(points(first, *baselines, spendable)),
        checks=checks_of(known.rows, model, features),
        exploring=_exploring(worlds, choice.candidate), uploads=_uploads(worlds, best),
        warm_start=warm_start_of(worlds, choice.candidate, baselines[0], tried),
        bytes_band=band_of(sent),
        logged_bytes=worlds.bytes_in([logged_world(worlds.rows)], choice.candidate.algorithm),
    )  # fmt: skip


def _unseen(done: int, total: int) -> None:
    """Show no progress."""


def _idle_talk(known: DescribedLog, allowed: float) -> tuple[float, float]:
    """Return the seconds between a site's questions, and the bytes a day that they take."""
    sites, has_features = len(known.sites), known.features is not None
    every = pause_for(allowed, sites, has_features)
    idle = idle_bytes_a_day(sites, every, has_features)
    if idle >= allowed:
        raise InvalidInput(
            f"budget {shown_bytes(allowed)} a day is less than {shown_bytes(idle)}, which {sites} sites take though "
            "each asks only once a day whether there is news: give more"
        )
    return every, idle


def _fitted(curves: Sequence[Family], spendable: float, worlds: Worlds) -> dict[Candidate, Place]:
    """Return two settings of each family, whose bytes are about the budget and half of it.

    The logged choices tell without any model where to look. Those of an algorithm that learns vary less, and send less,
    so from there on drawn worlds tell.
    """
    logged = logged_world(worlds.rows)

    def thresholds(family: Family) -> Iterator[float]:
        rough = Curve(lambda threshold: worlds.bytes_in([logged], family.at(threshold)))
        for part in TARGETS:
            first = rough.threshold_for(part * spendable)
            fine = Curve(lambda threshold: worlds.bytes_in(worlds.few, family.at(threshold)), first)
            yield fine.threshold_for(part * spendable)

    return {_setting(family, each): (family, each) for family in curves for each in thresholds(family)}


def _setting(family: Family, threshold: float) -> Candidate:
    return Candidate(family.name, family.setting, family.at(threshold))


def around(field: dict[Candidate, Place], first: Tried, spendable: float) -> list[Candidate]:
    """Return the best settings of the best few families, with other thresholds near theirs.

    Settings of equal bytes may differ in regret: one that synchronises twice does so sooner or later. And bytes may
    jump, so a family counts whose setting is over the budget, if a larger threshold may bring it within.
    """
    near = [each for each in field if first.means(each)[1] <= MOST_OVER * spendable]
    best: dict[Family, Candidate] = {}
    for each in distinct(sorted(near, key=first.means), first):
        best.setdefault(field[each][0], each)
    found = []
    for family, each in list(best.items())[:FAMILIES]:
        steps = STEPS if first.means(each)[1] <= spendable else STEPS_UP
        found += [_setting(family, float(f"{field[each][1] * step:.4g}")) for step in steps]
    return found


def finals(worlds: Worlds, first: Tried, baselines: Sequence[Candidate], spendable: float) -> Tried:
    """Try the best few in all worlds, and after them the next ones until there is one within the budget.

    Thresholds are fitted in few worlds. In all of them each of the best few may be over the budget, and that must not
    pass for a federation that does not help.
    """
    ranked = best_few(first, baselines, len(first.candidates), spendable)
    for count in range(min(FINALISTS, len(ranked)), len(ranked) + 1):
        tried = worlds.try_all([*ranked[:count], *baselines], ALL_WORLDS)
        if any(tried.means(each)[1] <= spendable for each in ranked[:count]):
            break
    return tried


def _exploring(worlds: Worlds, advised: Candidate) -> ExploringCost:
    """Return what exploring costs the advised setting."""
    with_lots = exploring(advised, EXPLORE)
    return ExploringCost(EXPLORE, with_lots.algorithm, *_cost(worlds, advised, with_lots))


def _uploads(worlds: Worlds, best: Candidate) -> UploadCost:
    """Return what it costs the best federation that its uploads rest on more than one observation."""
    return UploadCost(best.algorithm.smallest_upload, *_cost(worlds, telling_at_once(best), best))


def _cost(worlds: Worlds, before: Candidate, after: Candidate) -> tuple[float, float]:
    """Return what a change costs in regret, and in bytes over the time of the log."""
    tried = worlds.try_all([before, after], FIRST_WORLDS)
    return float((tried.regret[1] - tried.regret[0]).mean()), float((tried.bytes[1] - tried.bytes[0]).mean())

"""`fb.evaluate`: what a fixed policy would have earned, or in one sentence why the log cannot tell."""

from __future__ import annotations

import logging
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from fedbandit.core.algorithm import Algorithm, algorithms
from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput
from fedbandit.evaluation.estimates import Estimates, estimates_of
from fedbandit.evaluation.guarantee import Guaranteed
from fedbandit.evaluation.guarantee import guaranteed as guaranteed_intervals
from fedbandit.evaluation.sums import Sums, sums_of, total
from fedbandit.evaluation.terms import Terms, terms_of
from fedbandit.features.features import Features
from fedbandit.logs.log import Log
from fedbandit.site.policy import Policy

log_of = logging.getLogger("fedbandit.evaluation")

FEWEST = 100.0  # effective rows
FARTHEST = 4.0  # errors that the mean weight may be from 1
FEWEST_CARRIERS = 20.0  # below, normal intervals of ips and snips hold the truth in fewer than 93 of 100 logs


@dataclass(frozen=True)
class Evaluation(Estimates):
    """What `fb.evaluate` has found: estimates of the mean reward of the policy over the whole log.

    Look at `dr` first: it, `ips` and `snips` have a standard error (`dr_error`) and an `interval`, and `dm` has none.
    `logged` is the mean reward of the log itself, to compare with. `effective`, `mean_weight`, `largest_weight`,
    `carriers` and `matched` tell how much the log says about this policy. `by_site` has the same for each site, by the
    model of the whole log. `guaranteed` has intervals that hold whatever the rewards are, if they were asked for.
    """

    by_site: dict[str, Estimates]
    guaranteed: Guaranteed | None = None


def evaluate(
    log: Log,
    policy: Any,
    *,
    features: Features | None = None,
    anyway: bool = False,
    include_earlier: bool = False,
    guaranteed: bool = False,
    rewards: tuple[float, float] | None = None,
    largest_weight: float | None = None,
) -> Evaluation:
    """Estimate what a policy would have earned: a `fb.Policy`, or its chances of each arm (T, K).

    The policy is one that does not learn. It must not be judged on rewards that it learnt from, so rows from before it
    was taken are left out, unless `include_earlier` says that it did not learn from them. `features` make vectors of
    the log, unless it was made of arrays. A log that hardly can tell is refused; with `anyway` the estimates are made
    all the same, and a warning says why to doubt them.

    `guaranteed` adds intervals that are not approximate: in at least 95 of 100 logs they hold the truth. For this all
    rewards must lie between the two numbers of `rewards`, and the rows must be independent. Rows of a site that learnt
    are not, so its log is refused, unless `anyway` is given. `largest_weight` is one over the smallest propensity that
    a choice could have had. Leave it out if the log of a site tells its share of uniform choices.

    >>> rng = np.random.default_rng(0)
    >>> arms, choice = rng.random((2000, 2, 1)), rng.integers(2, size=2000)
    >>> reward = arms[np.arange(2000), choice, 0]
    >>> log = Log.from_arrays(site=choice, arms=arms, choice=choice, reward=reward, propensity=np.full(2000, 0.5))
    >>> best = np.eye(2)[arms[:, :, 0].argmax(axis=1)]
    >>> round(evaluate(log, best).dr, 2)
    0.67
    """
    log, terms, (vectors, chances) = terms_of_log(log, policy, features, include_earlier)
    by_site = {
        name: estimates_of(sums_of(terms.take(log.site == number)))
        for number, name in enumerate(log.sites)
        if (log.site == number).any()
    }
    bounds = None
    if guaranteed:
        ends, bound = _bounds(log, rewards, largest_weight, anyway)
        bounds = guaranteed_intervals(vectors, log.choice, log.reward, terms.weight, chances, ends, bound)
    elif rewards is not None or largest_weight is not None:
        raise InvalidInput(
            "rewards and largest_weight are for guaranteed intervals: give guaranteed, or leave them out"
        )
    return evaluation_of([sums_of(terms)], by_site, anyway, bounds)


def evaluation_of(
    sums: list[Sums], by_site: dict[str, Estimates], anyway: bool, guaranteed: Guaranteed | None = None
) -> Evaluation:
    """Return the evaluation by sums that add up, or refuse where they cannot tell."""
    found = estimates_of(total(sums))
    _require(found, anyway)
    numbers = {each.name: getattr(found, each.name) for each in fields(found)}
    return Evaluation(**numbers, by_site=by_site, guaranteed=guaranteed)


def terms_of_log(
    log: Log, policy: Any, features: Features | None, include_earlier: bool
) -> tuple[Log, Terms, tuple[Floats, Floats]]:
    """Return the rows that a policy is judged on, their terms, and their vectors and chances of arms."""
    if isinstance(policy, Algorithm) or (isinstance(policy, str) and policy in algorithms):
        name = policy if isinstance(policy, str) else policy.id
        raise InvalidInput(
            f"policy is {name}, an algorithm, which learns, and thresholds change what is learnt: use fb.advise or "
            "fedbandit advise, or give a policy that a site has saved"
        )
    if isinstance(policy, Policy):
        _require_features(policy, features)
        log = log if include_earlier else _since(log, policy.taken)
    propensity = log.propensity
    if propensity is None:
        raise InvalidInput(
            "the log has no propensities, so no other policy can be judged by it: log how likely choices were"
        )
    if (propensity == 1.0).all():
        raise InvalidInput(
            "all propensities are 1, so nothing is known of what was not chosen: log decisions with explore above 0"
        )
    vectors = log.encode(features)
    chances = _chances(log, policy, vectors)
    return log, terms_of(vectors, log.choice, log.reward, propensity, chances), (vectors, chances)


def _bounds(
    log: Log, rewards: tuple[float, float] | None, largest_weight: float | None, anyway: bool
) -> tuple[tuple[float, float], float]:
    """Return the range of rewards and the bound on weights that guaranteed intervals need, or refuse."""
    if rewards is None:
        raise InvalidInput("guaranteed intervals need the range of rewards: give rewards, the least and the largest")
    if log.explored is not None:
        sentence = (
            "the site learnt from rows before it decided later ones, and guaranteed intervals need independent rows"
        )
        if not anyway:
            raise InvalidInput(f"{sentence}; give anyway to see the intervals nevertheless")
        log_of.warning("%s", sentence)
    if largest_weight is not None:
        return rewards, largest_weight
    if not log.explored:
        raise InvalidInput(
            "how large a weight can be is not in the log: give largest_weight, one over the least propensity that a "
            "choice could have had"
        )
    return rewards, log.offered.shape[1] / log.explored


def _require_features(policy: Policy, features: Features | None) -> None:
    known, given = policy.charter.features, None if features is None else features.fingerprint
    if known != given:
        raise InvalidInput(
            f"the policy decides by {'features ' + known if known else 'vectors'}, but {given or 'none'} were given: "
            "give those of its site (--features FILE)"
        )


def _since(log: Log, taken: float) -> Log:
    """Return the rows from the time on at which a policy was taken; rows of unknown time count as later."""
    is_earlier = log.time < taken
    if is_earlier.all():
        raise InvalidInput(
            "all rows of the log are from before the policy was taken, so it may have learnt from them: give later "
            "ones, or include_earlier (--include-earlier), if it did not"
        )
    if is_earlier.any():
        log_of.warning("%d rows from before the policy was taken are left out", is_earlier.sum())
        return log.take(np.flatnonzero(~is_earlier))
    return log


def _chances(log: Log, policy: Any, vectors: Floats) -> Floats:
    """Return how likely the policy is to choose each arm of each row."""
    if isinstance(policy, Policy):
        is_there = log.offered >= 0
        found = np.zeros(log.offered.shape)
        for turn, arms in enumerate(vectors):
            found[turn, is_there[turn]] = policy.chances(arms[is_there[turn]])
        return found
    try:
        given: Floats = np.asarray(policy, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"policy must be a fb.Policy or chances (T, K), not {type(policy).__name__}: give one"
        ) from None
    if given.shape != log.offered.shape:
        raise InvalidInput(
            f"policy has shape {given.shape}, but the log {log.offered.shape}: give a chance for each arm"
        )
    is_wrong = ~((given >= 0).all(axis=1) & (np.abs(given.sum(axis=1) - 1) <= 1e-9))
    if is_wrong.any():
        turn = int(np.argmax(is_wrong))
        raise InvalidInput(f"policy[{turn}] is {given[turn].tolist()}: chances are at least 0 and add up to 1")
    if (given[log.offered < 0] > 0).any():
        turn = int(np.argmax(((given > 0) & (log.offered < 0)).any(axis=1)))
        raise InvalidInput(f"policy[{turn}] may choose an arm that was not on offer: give it the chance 0")
    return given


def _require(found: Estimates, anyway: bool) -> None:
    """Refuse, or warn of, a log that cannot tell."""
    troubles = []
    if abs(found.mean_weight - 1) > FARTHEST * found.mean_weight_error:
        rare = ", or this policy chooses what was so unlikely that the log lacks it" if found.mean_weight < 1 else ""
        troubles.append(
            f"mean weight {found.mean_weight:.2f} +- {found.mean_weight_error:.2f}: the propensities are not those of "
            f"the choices{rare}"
        )
    if found.effective < FEWEST:
        troubles.append(
            f"{found.effective:.0f} effective rows: the log has too few choices that this policy would make, at least "
            f"{FEWEST:.0f} are needed"
        )
    for each in troubles:
        if not anyway:
            raise InvalidInput(f"{each}; give anyway (--anyway) to see the estimates nevertheless")
        log_of.warning("%s", each)
    if found.carriers < FEWEST_CARRIERS:
        log_of.warning("%s", _few_carriers(found))


def _few_carriers(found: Estimates) -> str:
    return (
        f"the estimates hang on few rows: {found.carriers:.1f} of the largest weight, {found.largest_weight:.3g}, "
        "would vary as much as all do, so intervals of ips and snips, and of dr unless its model is good, may be too "
        "narrow: log with a larger explore"
    )

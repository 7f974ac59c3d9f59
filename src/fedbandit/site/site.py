"""The site that an application embeds.

    site = fb.Site.join("tls://broker/clinics", credentials="keys/clinics.north.pem", store="site.db")
    decision = site.choose(arms, ids=names)         # a few microseconds; nothing waits for the network
    site.learn(decision.id, reward)                  # whenever the reward is known, in any order, once or repeatedly

`join` asks the coordinator what the federation has agreed on, and connects. `fb.Site("lean-linucb", dimension=25, ...)`
is told it by the program, and works without a coordinator; `connect` lets it talk to one in a thread of its own, in an
asyncio program `await site.run(...)` does so in a task. `choose` and `learn` never wait. A site belongs to the process
that opened it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from os import getpid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fedbandit.core.algorithm import Algorithm
from fedbandit.core.randomness import stream
from fedbandit.durable.checked_input import checked_limits
from fedbandit.protocol.agreement import charter_of
from fedbandit.protocol.ending import Ending
from fedbandit.site.advice import Advice
from fedbandit.site.decision import Decision, name_of, named_arm
from fedbandit.site.decision_log import DecisionLog
from fedbandit.site.exploration import Lots, Propensities, check_samples
from fedbandit.site.guard import Guard, closed
from fedbandit.site.line import Line
from fedbandit.site.log_rows import LogRows
from fedbandit.site.offer import Offers
from fedbandit.site.opening import opened
from fedbandit.site.policy import Policy
from fedbandit.site.predictions import Predictions
from fedbandit.site.talking import Talking
from fedbandit.site.tally import Tally, require_reportable
from fedbandit.transport.link import RESEND

if TYPE_CHECKING:
    from fedbandit.features.features import Features, Values  # slow to import, and most sites have none

log = logging.getLogger("fedbandit.site")


class Site(Talking):
    """One site of a federation; all its methods may be called from any thread of the process that opened it.

    >>> site = Site("async-linucb", dimension=2, clients=3, number=1)
    >>> decision = site.choose([[1.0, 0.0], [0.0, 1.0]], ids=["red", "blue"])
    >>> decision.arm, decision.propensity, decision.version
    ('red', 1.0, 0)
    >>> site.learn(decision.id, 0.5), site.learn(decision.id, 0.5)
    (True, False)
    """

    def __init__(
        self,
        algorithm: str | Algorithm,
        *,
        dimension: int | None = None,
        features: Features | None = None,
        clients: int = 1,
        number: int = 0,
        horizon: int = 1,
        arms: int = 1,
        limits: Mapping[str, float] | None = None,
        expires: float | None = None,
        default_reward: float | None = None,
        store: str | Path | None = None,
        restored: bool = False,
        seed: int = 0,
        propensity_samples: int = 0,
        report: bool = False,
        log: str | Path | None = None,
        log_raw: bool = True,
        fresh: int | None = None,
        epoch_seconds: float | None = None,
        clock: Callable[[], float] = time.time,
        **parameters: Any,
    ) -> None:
        """Open site `number` of `clients`; algorithm, parameters and sizes are those of the whole federation.

        So are `features`, in place of a `dimension`: `choose` then takes values. `limits` are the federation's, too,
        `{"context": ..., "reward": ...}`: no arm is longer and no reward farther from zero; what is gets refused here,
        before a coordinator refuses all that was learnt with it. Without them: arms beyond 1e7, rewards beyond 1e12.
        A decision without a reward ends after `expires` seconds: `default_reward` is learnt, or it is forgotten.

        With a `store` (an SQLite file) what is pending and what is unsent survive restarts; say `restored` if the file
        comes from a backup. With `report` the coordinator's status page is told how often which arm was chosen, and the
        number and sum of rewards; else nothing but the algorithm's messages leaves. `log` is a folder for a log of all
        decisions, with what was on offer as it was given, or as vectors with `log_raw=False`; it never leaves the site.

        `propensity_samples` further samples at each choice make propensities vary less where a sample and `explore`
        choose, at so many times the cost. `fresh` is a number that grows with each opening; by default the time, and
        30 random bits that tell apart what is opened in one second. With a `discount`, epochs have `epoch_seconds`, the
        same at all sites and at the coordinator; a decision belongs to the one it is made in. `clock` tells the seconds
        since 1970.
        """
        bounds = checked_limits(limits)
        self.charter = charter_of(
            algorithm, parameters, clients=clients, arms=arms, dimension=dimension, horizon=horizon,
            epoch_seconds=epoch_seconds, features=features, limits=limits, ending=Ending(expires, default_reward),
        )  # fmt: skip
        self.charter.ending.require_possible(duels=self.charter.algorithm.duels, largest=bounds.reward)
        self._offers = Offers(self.charter, bounds, features)
        check_samples(propensity_samples, self.charter, number)
        require_reportable(self.charter.algorithm, report=report)
        self._guard = Guard()
        self._is_durable, self._clock = store is not None, clock
        self._log = None if log is None else DecisionLog(Path(log))
        self.node = opened(self.charter, number, store=store, restored=restored, fresh=fresh)
        self._lots = Lots(seed, self.node.opening, self.node.draws)
        self._propensities = Propensities(self.node.side, propensity_samples, seed, self.node.opening)
        self._predictions = Predictions(self.node, features) if report or log is not None else None
        self._tally = Tally(number, self.node.opening, self.watch) if report else None
        self._advice, self._seed, self._unsaid = Advice(), seed, []
        self._rows = LogRows(self.charter, self.node.side, number, is_raw=features is not None and log_raw)
        if self.node.revisions or self.node.charter != self.charter:  # the store knows of another charter
            self._take_up()
        self._complete_log()
        self._line = Line(self, number, self._guard, stream(seed, "waits", number, self.node.opening), self._release)

    @classmethod
    def join(
        cls, to: str, *, credentials: str | Path | None = None, number: int | None = None,
        features: Features | None = None, store: str | Path | None = None, restored: bool = False, seed: int = 0,
        propensity_samples: int = 0, report: bool = False, log: str | Path | None = None, log_raw: bool = True,
        every: float = RESEND, patience: float = 1.0, **said: Any,
    ) -> Self:  # fmt: skip
        """Ask the coordinator at `to` what its federation has agreed on, open a site with that, and connect it.

        The coordinator tells the algorithm, its parameters, the sizes, the limits, and when decisions end. The first
        time this waits for its answer, which the `store` keeps: from then on the site opens with what is in the store,
        also while the coordinator is away. Arguments of `Site` that you give for these yourself must be as agreed. Give
        `features` if the federation has some. The `number` of the site stands in its credential; without TLS give it.
        """
        from fedbandit.site.joining import terms  # slow to import

        agreed, number, told = terms(to, credentials, number, store, features, said)
        site = cls(
            agreed.algorithm, **asdict(agreed.setting), **asdict(agreed.ending), number=number, limits=agreed.limits,
            features=features, store=store, restored=restored, seed=seed, propensity_samples=propensity_samples,
            report=report, log=log, log_raw=log_raw, epoch_seconds=agreed.epoch_seconds, **agreed.aggregation,
        )  # fmt: skip
        if told:
            site.hear(told)
        site.connect(to, credentials=credentials, every=every, patience=patience)
        return site

    def choose(self, arms: Any = None, ids: Sequence[Any] | None = None, *, context: Values | None = None) -> Decision:
        """Decide between arms (K, d), or by a context (d,) that they share; with features all are tables of values."""
        offers = self._offers
        offer, named = offers.read(arms, ids, context)
        guard, node = self._guard, self.node  # as `with guard` does, in half the time
        if getpid() != guard.process:
            raise guard.foreign()
        with guard.lock:
            if guard.is_closed:
                raise closed()
            if offers is not self._offers:  # the charter was revised meanwhile
                offer, named = self._offers.read(arms, ids, context)
            now = self._begin()
            if self.charter.epoch_seconds is not None:
                node.tick(self.charter.epoch_at(now))
            draws = self._lots.draw()
            decided = node.decide(offer, draws)
            if self._control is None:
                propensity, group = self._propensities.of(decided, node.deciding, offer, draws), b""
            else:
                count = self._offers.arms_in(offer)
                decided, propensity, is_control = self._control.mixed(node, offer, draws, decided, count)
                group = self._control.fields[is_control]
            arm = named_arm(decided.choices, named)
            predicted = None if self._predictions is None else self._predictions.of(offer, decided)
            row = b""
            if self._log is not None:
                given = context, arms, named, arm, propensity, predicted
                row = self._rows.of(node.version, offer, now, given) + group
            name = node.note(offer, draws, decided, now, row)
            if self._control is not None:
                self._control.chose(name, is_control)
            if self._is_durable:
                node.flush()
                node.maintain()
            if self._tally is not None:
                self._tally.chose(arm)
            if self._line.has_begun and node.has_news:
                self._line.wake()
            decision = Decision(name, arm, propensity, node.version)
            if self._predictions is None:
                return decision
            advice = self._predictions.chose(name, predicted, propensity, self._offers.arms_in(offer))
        for each in advice:  # not while the lock is held, as in `hear`
            log.warning("%s", each)
        return decision

    def learn(self, decision: str | Decision, reward: float) -> bool:
        """Take in the reward of a decision; return False if it has come before or too late, which changes nothing.

        Of a duel the reward is 1 if the first arm won, else 0. With a store the reward is safe when this returns.
        """
        number = self._offers.check.reward(reward)
        guard, node = self._guard, self.node
        if getpid() != guard.process:
            raise guard.foreign()
        with guard.lock:
            if guard.is_closed:
                raise closed()
            now, name = self._begin(), name_of(decision)
            is_new = node.learn(name, number, now)
            if is_new and self._tally is not None:
                self._tally.learnt(number)
            if is_new and self._control is not None:
                self._control.learnt(name, number)
            if self._is_durable:
                node.flush()
            if self._log is not None:
                self._write_down()
                if not is_new:
                    self._log.late(name, number, now)
            if self._is_durable:
                node.maintain()
            has_news = self._line.has_begun and node.has_news
            advice = list(self._advice.new(node))
            if is_new and self._predictions is not None:
                advice += self._predictions.learnt(name, number)
        if has_news:
            self._line.wake()
        for each in advice:  # not while the lock is held, as in `hear`
            log.warning("%s", each)
        return is_new

    def policy(self) -> Policy:
        """Return what the site has learnt so far as a policy, which can be saved to a file."""
        with self._guard.reading():
            node, now = self.node, self._clock()
            return Policy(self.charter, node.number, node.version, node.encoded_state(), taken=now, form=node.form)

    def _take_up(self) -> None:
        """Go by what the federation has agreed on now."""
        self.charter = self.node.charter
        self._offers = self._offers.revised(self.node.agreed)
        self._lots.size = self.node.draws
        self._propensities.take_up(self.node.side)
        self._end_control_that_does_not_fit()
        self._rows = LogRows(self.charter, self.node.side, self.node.number, is_raw=self._rows.is_raw)

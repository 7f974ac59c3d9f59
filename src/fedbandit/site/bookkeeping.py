"""The part of a site that keeps its books: decisions that end, their log, and a past from before the first of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fedbandit.durable.audit import Audit
from fedbandit.logs.comparison import Comparison
from fedbandit.logs.watching import Watch
from fedbandit.protocol.charter import Charter
from fedbandit.site.control import Control
from fedbandit.site.decision import Decision, name_of
from fedbandit.site.decision_log import DecisionLog
from fedbandit.site.offer import Offers
from fedbandit.site.policy import Policy
from fedbandit.site.predictions import Predictions
from fedbandit.site.properties import SiteProperties
from fedbandit.site.warm_start import past_of

if TYPE_CHECKING:
    from fedbandit.logs.log import Log  # slow to import, and most sites have no past

AT_ONCE = 64  # rows of a past that are written to the store together


class Bookkeeping(SiteProperties):
    """A site whose decisions end."""

    charter: Charter
    _clock: Callable[[], float]
    _log: DecisionLog | None
    _offers: Offers
    _predictions: Predictions | None
    _is_durable: bool
    _is_released = False
    _control: Control | None = None
    _seed: int
    _unsaid: list[str]  # warnings for the log, until the lock is released

    @property
    def watch(self) -> Watch | None:
        """Return what was seen of predictions, rewards and values since the site was opened.

        It is None without a `log` and without `report`, since then nobody watches.
        """
        return None if self._predictions is None else self._predictions.watch

    def audit(self) -> Audit:
        """Return what the site still has of all that it has sent, or is about to send, decoded; see `durable.audit`."""
        with self._guard.reading():
            return self.node.audit()

    def control(self, policy: Policy, share: float = 0.1) -> None:
        """From now on let another policy, such as the one used so far, make a random `share` of the decisions.

        The site learns from these decisions too. `comparison` tells how much more its own decisions earn. A propensity
        tells how likely the arm was, whichever of the two decides. The store does not keep this: after the site was
        closed and opened, call it again.
        """
        with self._guard:
            self._control = Control(policy, share, self.node, self._seed)
            self._watch_control()

    @property
    def comparison(self) -> Comparison | None:
        """Return how rewards of the site's own decisions compare with those of `control`; None without it."""
        return None if self._control is None else self._control.comparison

    def _watch_control(self) -> None:
        if self.watch is not None:
            self.watch.comparison = self.comparison

    def _end_control_that_does_not_fit(self) -> None:
        """Let the site decide alone where a revision of the charter has changed what there is to choose from."""
        misfit = "" if self._control is None else self._control.misfit(self.charter)
        if misfit:
            self._control = None
            self._watch_control()
            self._unsaid.append(f"there is no control any more: {misfit}")

    def give_up(self, decision: str | Decision) -> bool:
        """Wait no longer for the reward of a decision, as if it had expired; return False if it has come or ended."""
        with self._guard:
            now = self._begin()
            is_pending = self.node.give_up(name_of(decision), now)
            self._write_down()
            if self._is_durable:
                self.node.flush()
                self.node.maintain()
            has_news = self._line.has_begun and self.node.has_news
        if has_news:
            self._line.wake()
        return is_pending

    def warm_start(self, log: Log, site: str | None = None) -> int:
        """Learn from the rows of a log, before the first decision; return how many of them were not learnt from before.

        They are rows that the federation has not been told. `site` says whose they are, where the log has several. Each
        counts once: if this is interrupted, or called again with the same log, it goes on where it was.
        """
        past = past_of(log, site, self.charter, self._offers, self._offers.features)
        node, taken = self.node, 0
        learns_from_choice = node.side.learns_from_choice
        with self._guard:
            now = self._begin()
            if self.charter.epoch_seconds is not None:
                node.tick(self.charter.epoch_at(now))
            for number in node.past_to_go(past.source, len(past.reward)):
                what = past.row(number, learns_from_choice=learns_from_choice)
                node.recall(past.source, number, *what, float(past.reward[number]), past.epoch[number])
                taken += 1
                if self._is_durable and not taken % AT_ONCE:
                    node.flush()
                    node.maintain()
            node.flush()
        self._line.wake()
        return taken

    @property
    def recalled(self) -> int:
        """Return how many rows of a past the site has learnt from."""
        with self._guard.reading():
            return self.node.past[1]

    @property
    def frozen(self) -> float | None:
        """Return when the policy was taken by which the site decides, in seconds since 1970; None: it is not frozen."""
        with self._guard.reading():
            return self.node.frozen_at

    def load(self, policy: Policy) -> None:
        """Decide by a policy from now on, also after a restart; what comes is learnt, sent and logged as before."""
        with self._guard:
            if not self.node.agreed.has_had(policy.charter):
                self.charter.require(policy.charter.text, "the policy")
            self._begin()
            self._freeze(policy.state_for(self.node.side, self.node.agreed), policy.taken or self._clock())

    def freeze(self) -> None:
        """Decide from now on by what has been learnt so far, until `thaw`; what comes is learnt as before."""
        with self._guard:
            self._begin()
            self._freeze(self.node.encoded_state(), self._clock())

    def thaw(self) -> None:
        """Decide again by what is learnt."""
        with self._guard:
            self._begin()
            self._freeze(b"", 0.0)

    def _freeze(self, state: bytes, taken: float) -> None:
        self.node.freeze(state, taken)
        self.node.flush()

    def _begin(self) -> float:
        """Catch up before anything else changes: what could not be written, what has ended; return the time."""
        now = self._clock()
        if self._is_durable:
            self.node.flush()
        if self._log is not None and self._log.is_behind:
            self._log.flush()
        if self.node.ending.expires is not None:
            self._settle_at(now)
        return now

    def _settle(self) -> None:
        """End the decisions that have waited long enough, and write down what has become of them."""
        if not self._is_released:
            self._settle_at(self._clock())

    def _settle_at(self, now: float) -> None:
        self.node.settle(now)
        self._write_down()

    def _complete_log(self) -> None:
        """Tell the log of decisions what it lacks from before the site was opened."""
        closed = self.node.take_closed()
        if self._log is not None and closed:
            self._log.complete(closed)
            self.node.logged()

    def _write_down(self) -> None:
        """Tell the log of decisions which were closed, once the store has it."""
        closed = self.node.take_closed()
        if closed and self._log is not None:
            self.node.flush()
            self._log.write(closed)

"""Async-LinUCB-AM: clients that differ; Li and Wang 2022, section 3.4 and appendix F (algorithms 3 and 5).

The reward of client i is x_g^T theta_g + x_l^T theta_i: one part is common to all clients, the other is its own. The
client estimates the two in turn (equation 7, see `kernels.linear.alternation`), adds to each part's sums what the
other leaves of the reward, and chooses (equation 8)

    argmax_x  UCB(x_g; V_i, b_i) + UCB(x_l; V_l, b_l),
    UCB(x; V, b) = x^T (V + ridge I)^-1 b + alpha sqrt(x^T (V + ridge I)^-1 x)
    alpha = (noise + 2) sqrt(log det(V + ridge I) - d log ridge + 2 log(1 / delta)) + sqrt(ridge)     (lemma 3.3)

Only V_i, b_i of the global part travel, by the protocol of Async-LinUCB with the same server.

The self-starting form (algorithm 5). A client first runs plain LinUCB on its own data, all of x (equation 5, width with
`noise`), and uploads nothing. It starts once its own d x d data, or what it has downloaded, have full rank (smallest
eigenvalue above 1e-8), tested after its turn. theta_g then comes from the download if that has full rank, else from
joint least squares on its own data (of least norm on [x; x] with shared features). From there it alternates over
all of its data, with the download in the global equation, and may upload at once. A fixed `alpha` takes the place of
all three widths; `exploration` samples each part by itself.

A client's data are kept as X^T X and X^T y only: the start needs no more, so memory does not grow with time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fedbandit.algorithms.linear.async_linucb import PAPER, AsyncLinUCB
from fedbandit.algorithms.linear.shared.clients import LinearClients, score_part
from fedbandit.algorithms.linear.shared.cohort import LinearCohortState
from fedbandit.algorithms.linear.shared.family import log_growth, per_client
from fedbandit.algorithms.linear.shared.push_server import PushServer
from fedbandit.algorithms.linear.shared.ways import WAYS, Way
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.changes import Change
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Federation
from fedbandit.core.parameters import parameter
from fedbandit.core.scores import ScorePart
from fedbandit.files.amounts import counted
from fedbandit.kernels.linear import ridge_rows as kernel
from fedbandit.kernels.linear.alternation_rows import (
    ALTERNATING,
    AlternatingRule,
    BothParts,
    Estimates,
    Split,
    empty_estimates,
)
from fedbandit.kernels.linear.generalised_inverse import CUT, GeneralisedInverses, empty_inverses
from fedbandit.kernels.linear.rules import UCB
from fedbandit.kernels.linear.turns import TurnKernels
from fedbandit.kernels.shared.rows import roomier

PATIENCE = 4  # times as many turns as there are features: who has not started by then is told why


@dataclass
class AlternatingState(LinearCohortState):
    """What the clients know: the global part as in Async-LinUCB, and what stands beside it."""

    whole: kernel.RidgeRows
    local: kernel.RidgeRows
    estimates: Estimates
    global_inverse: GeneralisedInverses
    local_inverse: GeneralisedInverses


class AlternatingClients(LinearClients):
    """Clients that learn a global and a local part; the global one uploads when its trigger passes a threshold."""

    ways: ClassVar[dict[bool, dict[int, TurnKernels]]] = {True: ALTERNATING}

    def __init__(self, rule: AlternatingRule, dimension: int, thresholds: Floats, way: Way, greets: Bools) -> None:
        """Take the rule, the length of x, and for each client its upload threshold and whether it says hello."""
        super().__init__(rule.global_part, rule.split.global_end, thresholds, way, greets)
        self.rule = rule
        self.lengths = dimension, rule.split.global_end, dimension - rule.split.local_start
        self.draws = 0 if rule.whole.exploration == UCB else sum(self.lengths[1:])

    def start(self, clients: int) -> AlternatingState:
        """Return a cohort that has seen nothing."""
        common = super().start(clients)
        capacity = len(common.rows.fresh)
        whole, shared, local = self.lengths
        return AlternatingState(
            **vars(common),
            whole=kernel.empty_rows(capacity, whole),
            local=kernel.empty_rows(capacity, local),
            estimates=empty_estimates(capacity, shared, local),
            global_inverse=empty_inverses(capacity, shared),
            local_inverse=empty_inverses(capacity, local),
        )

    def scored(self, state: AlternatingState) -> BothParts:
        """Return what scores use: both parts, or all of x before the start."""
        parts = state.whole, state.local, state.estimates, state.global_inverse, state.local_inverse
        return BothParts(state.rows, *parts)

    def parts(self, state: AlternatingState, row: int) -> Sequence[ScorePart]:
        """Return both parts of the scores of a row, or that of all of x before the start."""
        rule = self.rule
        if not state.estimates.started[row]:
            return (score_part(state.whole, row, rule.whole.width),)
        return (
            score_part(state.rows, row, rule.global_part.width),
            score_part(state.local, row, rule.local_part.width, rule.split.local_start),
        )

    def predicted(self, state: AlternatingState, who: Ints, features: Floats, choices: Ints) -> Floats:
        """Return the mean reward that both parts give each choice, or all of x before the start."""
        rows, arms, known = state.row_of[who], features[np.arange(len(who)), choices], state.estimates
        shared = (arms[:, : self.lengths[1]] * known.global_estimate[rows]).sum(axis=1)
        own = (arms[:, self.rule.split.local_start :] * known.local_estimate[rows]).sum(axis=1)
        alone = (arms * state.whole.estimate[rows]).sum(axis=1)
        return np.asarray(np.where(known.started[rows], shared + own, alone))

    def begin(self, state: AlternatingState, row: int) -> None:
        """Prepare the row of a client that acts for the first time, in all parts."""
        super().begin(state, row)
        for rows in (state.whole, state.local):
            kernel.begin(rows, row, self.ridge)

    def warnings(self, state: AlternatingState, ended: bool = False) -> Sequence[str]:
        """Say so where clients that have had many turns have not started, or at the end nobody has, and why."""
        acting, features = int(state.used[0]), self.lengths[0]
        turns, started = state.whole.turns[:acting], state.estimates.started[:acting]
        nobody = ended and acting > 0 and not started.any()
        waiting = np.flatnonzero(~started & (turns >= (features if nobody else PATIENCE * features)))
        if not waiting.size:
            return (_too_few_turns(float(turns.mean()), features),) if nobody else ()
        one = int(waiting[np.argmax(turns[waiting])])
        rank = int((np.linalg.eigvalsh(state.whole.gram[one]) > CUT).sum())
        where = f" at {waiting.size} of {acting} clients" if acting > 1 else ""
        return (
            f"async-linucb-am has not started{where}: after {turns[one]} turns the arms chosen have rank {rank} of "
            f"{features}, so it still decides by plain LinUCB and uploads nothing. Leave out features that are always "
            "0 or follow from others, or run async-linucb, which needs no full rank",
        )

    def grow(self, state: AlternatingState) -> None:
        """Make room for more rows, in all parts."""
        super().grow(state)
        for name in ("whole", "local", "estimates", "global_inverse", "local_inverse"):
            setattr(state, name, roomier(getattr(state, name), len(state.row_of)))


def _too_few_turns(mean: float, features: int) -> str:
    """Say why nobody has started where nobody can have.

    >>> _too_few_turns(1.0, 25).partition(": give")[0]
    'async-linucb-am has sent nothing, as no client has started: each has had about 1 turn, and at least 25 are needed'
    """
    had = counted(round(mean), "turn")
    return (
        f"async-linucb-am has sent nothing, as no client has started: each has had about {had}, and at least "
        f"{features} are needed: give more turns, or fewer clients or features"
    )


class SharedPartServer(PushServer):
    """The server of Async-LinUCB, for the global part."""

    def bounds(self, known: Bounds) -> Bounds:
        """Return what is added up for a reward: y - x_l^T theta_i, with theta_i in the unit ball, |.| <= R + L."""
        return replace(known, reward=known.reward + known.context)


@dataclass(frozen=True)
class AsyncLinUCBAM(
    AsyncLinUCB,
    id="async-linucb-am",
    title="clients that differ: a shared part travels, a personal part stays",
    paper=PAPER,
):
    """Async-LinUCB-AM (algorithms 3 and 5): alternating minimisation between a shared part and a personal one.

    >>> AsyncLinUCBAM(global_dimension=9).build(Setting(clients=2, arms=3, dimension=5, horizon=10))
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: global_dimension=9, but arms have 5 features: give at most that many
    """

    exploration: str = parameter(
        "ucb",
        "how to explore: optimism or a sample",
        choices=("ucb", "thompson", "perturbed"),
        change=Change.AT_ONCE,
    )
    carries_over: ClassVar[Change] = Change.NEVER  # features are divided into shared and personal ones
    greed: ClassVar[str] = "auto"  # type: ignore[misc]  # no parameter here: gaps of two estimates are not weighed
    discount: ClassVar[float] = 1.0  # type: ignore[misc]  # no parameter here: what alternates is not made to fade
    restart_quorum: ClassVar[int] = 0  # type: ignore[misc]  # nor to restart

    global_dimension: int | None = parameter(
        None, "how many of the first features are shared, the rest being personal; default: half, rounded up",
        symbol="d_g", at_least=1,
    )  # fmt: skip
    shared_features: bool = parameter(
        False, "all features have a shared and a personal weight (x_g = x_l = x); global_dimension has no meaning then"
    )
    alternations: int = parameter(
        100, "most steps of alternating minimisation a turn", at_least=1, change=Change.AT_ONCE
    )

    def build(self, setting: Setting) -> Federation:
        """Make both sides; the server is that of Async-LinUCB, for the global part."""
        growths = log_growth(per_client("upload_threshold", self.upload_threshold, setting.clients))
        owed = log_growth(per_client("download_threshold", self.download_threshold, setting.clients))
        way = replace(WAYS["async-linucb"], smallest_upload=self.smallest_upload)
        split = self._split(setting.dimension)
        cautious = replace(self, noise=self.noise + 2.0)
        rule = AlternatingRule(
            whole=self.score_rule(setting.dimension),
            global_part=cautious.score_rule(split.global_end),
            local_part=cautious.score_rule(setting.dimension - split.local_start),
            split=split,
            alternations=self.alternations,
        )
        return Federation(
            AlternatingClients(rule, setting.dimension, growths, way, greets=owed < np.inf),
            SharedPartServer(self.ridge, split.global_end, owed, way),
        )

    def _split(self, dimension: int) -> Split:
        if self.shared_features:
            return Split(global_end=dimension, local_start=0, share=0.5)
        shared = -(-dimension // 2) if self.global_dimension is None else self.global_dimension
        if shared > dimension:
            raise InvalidInput(f"global_dimension={shared}, but arms have {dimension} features: give at most that many")
        return Split(global_end=shared, local_start=shared, share=1.0)

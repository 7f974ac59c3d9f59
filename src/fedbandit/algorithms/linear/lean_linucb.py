"""Lean-LinUCB: the regret of pooled raw data at about the bytes of raw data, and no raw data leaves.

It is Async-LinUCB with four of its choices made anew, each of which is a parameter:

- thresholds for upload and download are apart (1.03 and 1000), as the paper's appendix E allows;
- a newcomer is welcomed: it asks before its first turn, where Async-LinUCB chooses blind;
- a client asks, where Async-LinUCB's server pushes; it says what it knows, so that the server remembers nothing of it;
- sums travel as factors in a lower precision; what rounding leaves stays in the client's buffer (`shared.encoding`).

**Questions.** A client tells how many uploads are in what it knows, and its level, log det(the copy last shared +
ridge I). The server, with V_g over `version` uploads, answers with its sums iff there are others and

    log det(V_g + ridge I) - level > log(download_threshold),

or the client is a newcomer; with a threshold of 1, iff there are others. With `delivery = turn` a client asks before
its turns: who asked after n of them asks again after ask_growth n. With `delivery = upload` each upload is a question.
With `delivery = push` the server pushes, as in Async-LinUCB.

**Late delivery.** A site has one upload or one question on the way at most, so that what it says is true when it
arrives. A download that crosses an upload does not make it forget what it sent: see `shared.exchange`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from fedbandit.algorithms.linear.shared.composition import compose
from fedbandit.algorithms.linear.shared.declared import precision_parameter, threshold_parameter
from fedbandit.algorithms.linear.shared.family import RestartingAlgorithm
from fedbandit.algorithms.linear.shared.ways import WAYS, Delivery
from fedbandit.core.algorithm import Setting
from fedbandit.core.changes import Change
from fedbandit.core.interfaces import Federation
from fedbandit.core.parameters import parameter

DELIVERIES = tuple(each.value for each in (Delivery.TURN, Delivery.UPLOAD, Delivery.PUSH))


@dataclass(frozen=True)
class LeanLinUCB(
    RestartingAlgorithm,
    id="lean-linucb",
    title="clients ask, ever more rarely, and are answered in few bytes",
    paper="beyond Li and Wang 2022, Asynchronous UCB Algorithms for Federated Linear Bandits",
):
    """Lean-LinUCB: newcomers are welcomed, clients ask for what they lack, and sums travel as rounded factors."""

    carries_over: ClassVar[Change] = Change.MIGRATION

    upload_threshold: float | tuple[float, ...] = threshold_parameter(
        1.03, "a client's determinant that makes it upload", "gamma_U"
    )
    download_threshold: float | tuple[float, ...] = threshold_parameter(
        1000.0, "the determinant that a client lacks for which it is sent a download", "gamma_D"
    )
    delivery: str = parameter(
        "turn", "when a client may get a download: it asks before turns, or by its uploads, or the server pushes",
        choices=DELIVERIES,
    )  # fmt: skip
    ask_growth: float = parameter(
        1.3,
        "with delivery=turn: who asked after n turns of its own asks again after ask_growth n",
        at_least=1,
        change=Change.AT_ONCE,
    )
    welcome: bool = parameter(True, "a client asks for what there is before its first turn, whatever delivery says")
    precision: str = precision_parameter("float16")

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        way = replace(
            WAYS["lean-linucb"], delivery=Delivery(self.delivery), ask_growth=self.ask_growth, welcome=self.welcome,
            precision=self.precision,
        )  # fmt: skip
        return compose(self, setting, way, self.upload_threshold, self.download_threshold)

"""The site that an application embeds.

    site = fb.Site("async-linucb", dimension=25, clients=100, number=7, store="site.db")
    decision = site.choose(arms, ids=names)         # a few microseconds; nothing waits for the network
    ...
    site.learn(decision.id, reward)                  # whenever the reward is known, in any order, once or repeatedly

It works without a coordinator. `connect` lets it talk to one in a thread of its own; in an asyncio program `await
site.run(...)` does so in a task. `choose` and `learn` are the same in both: they never wait.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.durable.checked_input import checked_offer, checked_reward
from fedbandit.durable.client import DurableClient
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.protocol.charter import Charter
from fedbandit.site.conversation import Conversation
from fedbandit.site.decision import Decision, check_ids, named_arm
from fedbandit.site.exploration import Lots
from fedbandit.site.policy import Policy
from fedbandit.site.tally import Tally
from fedbandit.transport.link import Connect
from fedbandit.transport.nats.link import connector
from fedbandit.wire.state import encode_state


def fresh_number() -> int:
    """Return a number greater than those of earlier seconds, and different from all others of this one."""
    return int(time.time()) << 30 | secrets.randbits(30)


class Site:
    """One site of a federation; all its methods may be called from any thread.

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
        dimension: int,
        clients: int = 1,
        number: int = 0,
        horizon: int = 1,
        arms: int = 1,
        store: str | Path | None = None,
        restored: bool = False,
        seed: int = 0,
        propensity_samples: int = 100,
        report: bool = False,
        fresh: int | None = None,
        **parameters: Any,
    ) -> None:
        """Open site `number` of `clients`; algorithm, parameters and sizes are those of the whole federation.

        With a `store` (an SQLite file) what is pending and what is unsent survive restarts; say `restored` if the file
        comes from a backup. With `report` the coordinator's status page is told how often which arm was chosen, and the
        number and sum of rewards; else nothing but the algorithm's messages leaves. `fresh` is a number that grows with
        each opening; by default the time, and 30 random bits that tell apart what is opened in one second.
        """
        self.charter = Charter.named(algorithm, Setting(clients, arms, dimension, horizon), **parameters)
        self._lock = threading.Lock()
        self._is_durable = store is not None
        self._journal = SqliteJournal(store) if store is not None else None
        self.node = DurableClient(
            self.charter,
            number,
            fresh=fresh_number() if fresh is None else fresh,
            journal=self._journal,
            restored=restored,
        )
        self._samples = propensity_samples
        self._lots = Lots(seed, self.node.life.decisions.life, self.node.life.side.draws)
        self._tally = Tally(number, self.node.life.decisions.life) if report else None
        self._conversation: Conversation | None = None
        self._thread: threading.Thread | None = None

    def choose(self, arms: Any, ids: Sequence[Any] | None = None) -> Decision:
        """Decide between arms (K, d), one row an arm, or by a context (d,) for algorithms whose arms share one."""
        charter = self.charter
        offer = checked_offer(arms, charter.algorithm, charter.setting.dimension)
        if ids is not None:
            check_ids(ids, charter.setting.arms if charter.algorithm.shares_context else offer.shape[1])
        with self._lock:
            node = self.node
            name, choice = node.choose(offer, self._lots.draw())
            if self._is_durable:
                node.flush()
            life = node.life
            propensity = 1.0
            if self._lots.size:
                propensity = self._lots.propensity(choice, lambda lots: life.choose(offer, lots), self._samples)
            arm = named_arm(choice, ids)
            if self._tally is not None:
                self._tally.chose(arm)
            return Decision(name, arm, propensity, int(life.node.received[0]))

    def learn(self, decision: str | Decision, reward: float) -> bool:
        """Take in the reward of a decision; return False if it has come before, which changes nothing.

        Of a duel the reward is 1 if the first arm won, else 0.
        """
        number = checked_reward(reward, self.charter.algorithm)
        with self._lock:
            node = self.node
            is_new = node.learn(decision.id if isinstance(decision, Decision) else decision, number)
            if is_new and self._tally is not None:
                self._tally.learnt(number)
            if self._is_durable:
                node.flush()
                node.maintain()
            has_news = self._conversation is not None and bool(node.life.outbox.new)
        if has_news:
            assert self._conversation is not None
            self._conversation.wake()
        return is_new

    @property
    def pending(self) -> int:
        """Return how many decisions await their reward."""
        with self._lock:
            return len(self.node.life.decisions.pending)

    @property
    def unsent(self) -> int:
        """Return how many uploads the coordinator has not acknowledged."""
        with self._lock:
            return len(self.node.life.outbox.frames)

    @property
    def version(self) -> int:
        """Return the number of the coordinator's last download, 0 before the first."""
        with self._lock:
            return self.node.life.version[1]

    @property
    def refused(self) -> list[str]:
        """Return why the coordinator refused uploads of this site for good, if it did."""
        with self._lock:
            return [each.reason for each in self.node.life.outbox.refused]

    def policy(self) -> Policy:
        """Return what the site has learnt so far as a policy, which can be saved to a file."""
        with self._lock:
            life = self.node.life
            return Policy(self.charter, self.node.number, life.version[1], encode_state(life.node.state))

    def hear(self, frame: bytes) -> None:
        """Take in a frame from the coordinator."""
        with self._lock:
            self.node.receive(frame)

    def news(self) -> list[bytes]:
        """Return the frames to send to the coordinator for the first time; all that they rest on is on the disk."""
        with self._lock:
            if self.node.life.outbox.new:
                return self.node.commit()
            self.node.flush()
            return []

    def everything(self) -> list[bytes]:
        """Return all frames that the coordinator may lack, and a question for what the site may lack."""
        with self._lock:
            report = [] if self._tally is None else [self._tally.report().to_bytes()]
            return self.node.resend() + report

    async def run(
        self, to: str | Connect, *, credentials: str | Path | None = None, every: float = 30.0, patience: float = 1.0
    ) -> None:
        """Talk to the coordinator until the site is closed or the task is cancelled.

        `to` is the federation at its broker, `nats://HOST:PORT/FEDERATION` or `tls://...` with the credential of this
        site, or what makes a connection of another kind. A lost one is made again after `patience` seconds. What was
        not acknowledged is sent again `every` so many seconds.
        """
        connect = connector(to, self.node.number, credentials) if isinstance(to, str) else to
        self._conversation = Conversation(self, connect, every, patience)
        try:
            await self._conversation.run()
        finally:
            self._conversation = None

    def connect(
        self, to: str | Connect, *, credentials: str | Path | None = None, every: float = 30.0, patience: float = 1.0
    ) -> None:
        """Talk to the coordinator as `run` does, in a thread of its own, until the site is closed."""
        connect = connector(to, self.node.number, credentials) if isinstance(to, str) else to
        talk = self.run(connect, every=every, patience=patience)
        self._thread = threading.Thread(target=asyncio.run, args=(talk,), name="fedbandit-site", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the conversation and close the store; what was not sent is sent when the site is opened again."""
        conversation = self._conversation
        if conversation is not None:
            conversation.end()
        if self._thread is not None:
            self._thread.join(timeout=10.0)
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> Self:
        """Return the site; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the site."""
        self.close()

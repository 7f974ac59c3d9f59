"""Federations that notice by themselves that the world has changed, and then forget all and begin anew.

Each client watches how far off its predictions are (`kernels.linear.change_detection`). When it finds that the world
has changed, or changes its mind, it tells the server by a signal. When as many clients as the quorum find so at once,
the server lets all be forgotten: it and all clients age what they know by a weight of 0. That is a restart. Restarts
are numbered in the clocks of nodes (`protocol.fading`), so that what was sent before one counts nothing after it, in
whatever order it arrives.

What the rewards vary by, a client does not forget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fedbandit.algorithms.linear.shared.clients import LinearClients
from fedbandit.algorithms.linear.shared.cohort import LinearCohortState
from fedbandit.algorithms.linear.shared.exchange import note_signal, uploads_lacking
from fedbandit.algorithms.linear.shared.messages import Shared
from fedbandit.algorithms.linear.shared.ways import Delivery, Way
from fedbandit.core.around import ServerAround, WithOwnState
from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.bounds import Bounds, check_counts
from fedbandit.core.errors import InvalidInput
from fedbandit.core.forgetting import Forgets
from fedbandit.core.interfaces import Federation, Outgoing, Server, TurnByTurn
from fedbandit.core.messages import Download, Upload, header
from fedbandit.core.turns import Observations
from fedbandit.kernels.linear.change_detection import Watch, no_watch, notice
from fedbandit.kernels.linear.rules import Rule
from fedbandit.kernels.shared.at_once import AtOnce

_notice = AtOnce(notice, lambda *call: call[4].size ** 2)


@dataclass(frozen=True)
class Alarm(Upload, kind="linear.alarm"):
    """A client finds that the world has changed, or finds so no longer; `changes` is odd while it finds so."""

    changes: Ints = header()  # how often, since all was last forgotten

    def check(self, bounds: Bounds) -> None:  # noqa: ARG002
        """Refuse an impossible count."""
        check_counts(changes=self.changes)


@dataclass(frozen=True)
class Restart(Download, kind="linear.restart"):
    """Enough clients find that the world has changed: all that was observed before counts nothing from now on."""


@dataclass
class WatchingCohortState(LinearCohortState):
    """What the clients know, and what they have noticed."""

    watch: Watch = field(kw_only=True)


class WatchingClients(TurnByTurn, LinearClients):
    """Clients that tell the server when they find that the world has changed."""

    may_restart = True

    def __init__(self, rule: Rule, dimension: int, thresholds: Floats, way: Way, greets: Bools, noise: float) -> None:
        """Take what others take, and the noise of rewards as far as it is known."""
        super().__init__(rule, dimension, thresholds, way, greets)
        self.noise = noise
        self.kinds = (*way.downloads, Restart)

    def start(self, clients: int) -> WatchingCohortState:
        """Return a cohort that has seen nothing."""
        return WatchingCohortState(**vars(super().start(clients)), watch=no_watch(clients))

    def learn(self, state: Any, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Take in each client's reward; return what follows, alarms first: the answer to an upload then holds both."""
        alarmed = [each for each in range(len(who)) if self._notices(state, int(who[each]), seen, each)]
        if not alarmed:
            return super().learn(state, who, seen)
        tellers = who[alarmed]
        for row in state.row_of[tellers].tolist():
            note_signal(state.exchange, row)
        return [Outgoing(tellers, Alarm(state.watch.changes[tellers])), *super().learn(state, who, seen)]

    def receive(self, state: Any, to: Ints, message: Shared | Restart) -> Sequence[Outgoing[Upload]]:
        """Note a snapshot. A restart needs nothing here: all was forgotten when its clock was read."""
        return () if isinstance(message, Restart) else super().receive(state, to, message)

    def receive_late(self, state: Any, to: Ints, message: Shared, lacks: Ints) -> Sequence[Outgoing[Upload]]:
        """Take in a snapshot as others do; a client that it answers may upload again, if all it lacks are alarms."""
        super().receive_late(state, to, message, lacks)
        if self.way.delivery is Delivery.REPLY:
            for row, each in zip(state.row_of[to].tolist(), lacks.tolist(), strict=True):
                if uploads_lacking(state.exchange, row, each) == []:
                    state.exchange.waits[row] = False
        return ()

    def age(self, state: Any, weight: float) -> None:
        """Let what is known count for less. Of nothing that is left nothing has changed, and it is time to ask."""
        super().age(state, weight)
        if weight > 0.0:
            return
        state.watch.excess[:] = 0.0
        state.watch.changes[:] = 0
        if self.way.delivery is Delivery.TURN:
            used = int(state.used[0])
            state.rows.turns[:used] = 0
            state.exchange.next_ask[:used] = self.way.ask_after(0)

    def _notices(self, state: Any, client: int, seen: Observations, each: int) -> bool:
        row = self.settle(state, client)
        if seen.weight is not None and seen.weight[each] == 0.0:  # chosen before a restart, in another world
            return False
        arm, reward = seen.features[each, seen.choice[each]], float(seen.feedback[each])
        return _notice(state.watch, client, self.scored(state), row, arm, reward, self.noise, self.ridge)


@dataclass
class RestartingServerState:
    """What the server within knows, who finds that the world has changed, and how often all was forgotten."""

    within: Any
    changes: Ints  # (clients,) how often each has changed its mind since then, as it said last; odd: it finds so now
    restarts: int


class RestartingServer(WithOwnState, ServerAround):
    """Lets all be forgotten when enough clients find that the world has changed; in all else the server within.

    Of what only some servers can do it forgets alone.
    """

    def __init__(self, within: Server, quorum: int) -> None:
        """Take the server, and how many clients must find so at once."""
        super().__init__(within)
        self.may_restart = True
        self.quorum = quorum
        self.kinds = (*(within.kinds or ()), Alarm)

    def start(self, clients: int) -> RestartingServerState:
        """Return a server that has received nothing."""
        return RestartingServerState(self.within.start(clients), np.zeros(clients, dtype=np.int64), 0)

    def receive(self, state: RestartingServerState, senders: Ints, message: Any) -> Sequence[Outgoing[Download]]:
        """Take in uploads; at an alarm that makes a quorum, begin anew and tell all."""
        if not isinstance(message, Alarm):
            return self.within.receive(state.within, senders, message)
        np.maximum.at(state.changes, senders, message.changes)  # of two that overtook each other the later counts
        if np.count_nonzero(state.changes % 2) < self.quorum:
            return ()
        state.restarts += 1
        return (Outgoing(np.arange(len(state.changes)), Restart()),)

    def restarts(self, state: RestartingServerState) -> int:
        """Return how often all was forgotten."""
        return state.restarts

    def check(self, state: RestartingServerState, sender: int, message: Any, bounds: Bounds, observations: int) -> None:
        """Refuse what the server within refuses."""
        if not isinstance(message, Alarm):
            self.within.check(state.within, sender, message, bounds, observations)

    def age(self, state: RestartingServerState, weight: float) -> None:
        """Let all uploads so far count for less; with nothing left, nobody finds that anything has changed."""
        _forgets(self.within).age(state.within, weight)
        if weight == 0.0:
            state.changes[:] = 0

    def aged(self, message: Upload, weight: float) -> Upload:
        """Return an upload of an earlier epoch as it counts now; an alarm from before a restart says nothing."""
        if isinstance(message, Alarm):
            return message if weight > 0.0 else Alarm(np.zeros_like(message.changes))
        aged: Upload = _forgets(self.within).aged(message, weight)
        return aged


def _forgets(server: Server) -> Forgets:
    assert isinstance(server, Forgets), "as the servers of the asynchronous algorithms do"
    return server


def restarting(clients: WatchingClients, server: Server, quorum: int, roster: int) -> Federation:
    """Return both sides of a federation that begins anew when a quorum finds that the world has changed."""
    if quorum > roster:
        raise InvalidInput(f"restart_quorum={quorum} is more than the {roster} clients: give at most {roster}")
    if clients.way.delivery is Delivery.NONE:
        raise InvalidInput(
            f"restart_quorum={quorum} needs clients that hear of one another, and with infinite thresholds none does: "
            "give a threshold, or leave it at 0"
        )
    return Federation(clients, RestartingServer(server, quorum))

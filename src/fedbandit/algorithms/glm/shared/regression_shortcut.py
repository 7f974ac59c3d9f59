"""The simulation's shortcut (`core.shortcuts.TurnsShortcut`) for regressions by accelerated gradients.

A global update asks all clients for gradients some dozens of times, and every answer is a pass over all that was ever
observed. Only the sum of the answers moves the search. Near the last models `NearbyGradients` knows that sum, and the
search goes on by it, for as many questions as it is exact; every question is counted as if it had been asked and
answered. The iterate at which the search stops is always asked about by messages: a pass over the data decides.

Choices and ledger are those of the message path, and what both sides know is the same but for rounding. A test
compares them for every parameter: `tests/algorithms/glm/test_regression_shortcut.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from fedbandit.algorithms.glm.shared.clients import GlmClients, GlmCohortState
from fedbandit.algorithms.glm.shared.messages import Call, Gradient, Probe
from fedbandit.algorithms.glm.shared.nearby_gradients import Losses, NearbyGradients, is_worthwhile
from fedbandit.algorithms.glm.shared.server import GlmServer
from fedbandit.algorithms.glm.shared.solvers import Accelerated
from fedbandit.algorithms.glm.shared.updates import GlmServerState, Regression
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Upload
from fedbandit.core.shortcuts import Exchanged, SimulatedTurns
from fedbandit.core.turns import Turns

ANYBODY = np.zeros(1, dtype=np.int64)


class RegressionShortcut:
    """Plays turns with all that they exchange, and goes through searches without asking where it can."""

    def __init__(self, clients: GlmClients, server: GlmServer, regression: Regression) -> None:
        """Take both sides, and the global update that they make."""
        self.clients = clients
        self.server = server
        self.regression = regression
        self._nearby: NearbyGradients | None = None

    def simulate_turns(
        self, clients: GlmCohortState, server: GlmServerState, turns: Turns, draws: Floats
    ) -> SimulatedTurns:
        """Play a block of turns."""
        choices: list[Ints] = []
        book = _Book(len(turns))
        turn = 0
        while turn < len(turns):
            played = self.clients.play(clients, turns, turn, draws)
            choices.append(played.choices)
            turn += len(played.choices)
            if played.outgoing:
                book.turn = turn - 1
                self._update(clients, server, played.outgoing, book)
        return SimulatedTurns(np.concatenate(choices), book.exchanged())

    def _update(
        self, clients: GlmCohortState, server: GlmServerState, due: Sequence[Outgoing[Upload]], book: _Book
    ) -> None:
        """Carry messages to and fro until a global update has ended."""
        queue: list[Outgoing[Any]] = list(due)
        version = server.version
        for sent in queue:  # the list grows while it is read
            message: Any = sent.message
            book.note(sent)
            if isinstance(message, Upload):
                queue.extend(self.server.receive(server, sent.clients, cast(Any, message)))
                continue
            if isinstance(message, Probe):
                message = self._ahead(clients, server, sent, book)
            queue.extend(self.clients.receive(clients, sent.clients, message))
        if server.version > version and self._nearby is not None:
            self._nearby.end_update(server.model, server.observations)

    def _ahead(
        self, clients: GlmCohortState, server: GlmServerState, asked: Outgoing[Probe], book: _Book
    ) -> Call | Probe:
        """Go on with a search as far as it needs no answers; return the question at which it does."""
        answers, search, solver = server.questions.rows, server.search, self.regression.solver
        if self._nearby is None or not self._nearby.is_of(clients.kept):
            self._nearby = NearbyGradients(clients.kept, len(server.model), self.regression.link)
        n = answers.total()
        gram = server.gram + answers.gram.sum(axis=0)
        losses = Losses(clients.kept, clients.shared.called, gram, n, n * solver.smallest_gradient(n))
        steps, total = 0, self._nearby.at(search.iterate, losses)
        while total is not None and solver.moves_on(search, total, answers):
            steps, total = steps + 1, self._nearby.at(search.iterate, losses)
        server.questions.number += steps
        headers = answers.observations
        book.note(Outgoing(asked.clients, Gradient(answers.gradient, headers, headers)), steps)
        book.note(asked, steps)
        return self.regression.question(server)


def shortcut_of(clients: GlmClients, server: GlmServer) -> RegressionShortcut | None:
    """Return the shortcut of two sides; None where more is asked for than gradients, or the polynomial is too long."""
    update = server.update
    if isinstance(update, Regression) and isinstance(update.solver, Accelerated):
        return RegressionShortcut(clients, server, update) if is_worthwhile(update.link, clients.dimension) else None
    return None


class _Book:
    """What was exchanged after each turn of a block, by kind: all messages of one kind have the same size."""

    def __init__(self, turns: int) -> None:
        self.turn = 0
        self._turns = turns
        self._exchanged: dict[str, Exchanged] = {}

    def note(self, sent: Outgoing[Any], times: int = 1) -> None:
        """Count, after the present turn, a message to or from each of its clients, so many times."""
        message = sent.message
        if message.kind not in self._exchanged:
            one = message.rows(ANYBODY) if isinstance(message, Upload) else message
            self._exchanged[message.kind] = Exchanged(Outgoing(ANYBODY, one), np.zeros(self._turns, dtype=np.int64))
        self._exchanged[message.kind].times[self.turn] += len(sent.clients) * times

    def exchanged(self) -> Sequence[Exchanged]:
        """Return all."""
        return tuple(self._exchanged.values())

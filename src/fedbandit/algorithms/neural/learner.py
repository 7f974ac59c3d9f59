"""What a client of the neural family does with its own observations.

Every client holds the same frozen theta_0. It keeps V_local = ridge I + sum phi phi^T over its own observations, with
phi = g(x; theta_0) / sqrt(m), and a network that it trains on them (`fedbandit.kernels.neural.descent`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.turns import Observations
from fedbandit.kernels.neural.cohort import put_rows, rows_of
from fedbandit.kernels.neural.grams import REFRESH
from fedbandit.kernels.neural.rounds import Rounds
from fedbandit.kernels.neural.sums import Sums

ROOM = 2048  # observations of a client that there is room for at first


@dataclass
class Own:
    """What clients know from their own observations; the first axis is the client."""

    matrix: Any  # V_local, as the matrices keep it
    sums: Sums | None  # of which a full matrix is the inverse
    past: Any  # (clients, chunks, d, columns): contexts that were chosen
    paid: Any  # (clients, chunks, columns): their rewards
    thetas: Any  # (clients, p_0): trained weights
    turns: Ints  # (clients,)


class Learner:
    """Clients that observe and train; all of a cohort at once, or some."""

    def __init__(self, rounds: Rounds, train_until: int, warm_start: bool) -> None:
        """Take the compiled functions, and when and whence to train."""
        self.rounds = rounds
        self.train_until = train_until
        self.warm_start = warm_start
        self.initial = rounds.network.initial

    def start(self, clients: int) -> Own:
        """Return clients that have observed nothing."""
        device, network = self.rounds.device, self.rounds.network
        chunks = max(1, -(-min(self.train_until, ROOM) // device.chunk))
        full = not self.rounds.plan.diagonal
        return Own(
            matrix=self.rounds.matrices.start(clients, device.dtype),
            sums=Sums.empty(clients, network.coordinates, REFRESH, device.dtype, REFRESH) if full else None,
            past=jnp.zeros((clients, chunks, network.inputs, device.chunk), device.dtype),
            paid=jnp.zeros((clients, chunks, device.chunk), device.dtype),
            thetas=jnp.broadcast_to(device.put(self.initial), (clients, network.parameters)),
            turns=np.zeros(clients, dtype=np.int64),
        )

    def observe(self, own: Own, who: Ints, seen: Observations) -> tuple[Any, Any]:
        """Take in what each client of `who` observed; return the features that it chose, and its rewards."""
        device, clients = self.rounds.device, len(own.turns)
        at = own.turns[who]
        self._make_room(own, int(at.max()))
        at = np.where(at < self.train_until, at, np.iinfo(np.int32).max)  # what is never trained on is not remembered
        rewards = device.put(seen.feedback)
        features, matrix, own.past, own.paid = self.rounds.observe(
            device.put(seen.features), seen.choice, rewards, rows_of(own.matrix, who, clients), own.past, own.paid,
            who, at,
        )  # fmt: skip
        own.matrix = put_rows(own.matrix, who, matrix, clients)
        own.turns[who] += 1
        if own.sums is not None:
            own.sums.add(who, features)
            if own.sums.is_full:
                own.sums.fold()
                own.matrix = self.rounds.invert(own.sums.base)
        return features, rewards

    def train(self, own: Own, who: Ints) -> None:
        """Train the networks of those clients of `who` that are still to be trained."""
        turns = own.turns[who]
        counts = np.where(turns <= self.train_until, turns, 0)
        if not counts.any():
            return
        clients = len(own.turns)
        thetas = rows_of(own.thetas, who, clients)
        if not self.warm_start:
            thetas = jnp.where((counts > 0)[:, None], self.rounds.device.put(self.initial), thetas)
        past, paid = rows_of(own.past, who, clients), rows_of(own.paid, who, clients)
        own.thetas = put_rows(own.thetas, who, self.rounds.train(thetas, past, paid, counts), clients)

    def check_memory(self, matrices: int, clients: int) -> None:
        """Refuse to begin what would not fit: so many matrices of features at once, and the clients' histories."""
        network, device = self.rounds.network, self.rounds.device
        each = network.coordinates if self.rounds.plan.diagonal else network.coordinates**2
        history = clients * min(self.train_until, ROOM) * network.inputs
        wanted = device.dtype.itemsize * (matrices * each + history)
        free = device.free_bytes()
        if wanted > free:
            raise InvalidInput(
                f"width={network.width} needs about {wanted / 2**30:.1f} GiB for the matrices of {clients} clients "
                f"({network.coordinates} x {network.coordinates} numbers each), but {free / 2**30:.1f} GiB are free: "
                "set diagonal=true, lower the width, or run fewer clients"
            )

    def _make_room(self, own: Own, last: int) -> None:
        chunks, columns = own.paid.shape[1:]
        if last >= chunks * columns and last < self.train_until:
            own.past = jnp.concatenate([own.past, jnp.zeros_like(own.past)], axis=1)
            own.paid = jnp.concatenate([own.paid, jnp.zeros_like(own.paid)], axis=1)

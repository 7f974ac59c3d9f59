"""What a client of the neural family does with its own observations.

Every client holds the same frozen theta_0. It keeps V_local = ridge I + sum phi phi^T over its own observations, with
phi = g(x; theta_0) / sqrt(m), and a network that it trains on them (`fedbandit.kernels.neural.descent`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.turns import Observations
from fedbandit.kernels.neural.arrays import Array, Numbers
from fedbandit.kernels.neural.cohort import put_rows, rows_of
from fedbandit.kernels.neural.device import plain
from fedbandit.kernels.neural.grams import REFRESH, SPAN
from fedbandit.kernels.neural.rounds import Rounds
from fedbandit.kernels.neural.steps import Gain, Learnt, Past
from fedbandit.kernels.neural.whole_rounds import LOADS, RoundSettings

ROOM = 2048  # observations of a client that there is room for at first


@dataclass
class Own:
    """What clients know from their own observations; the first axis is the client."""

    past: Past
    matrix: Numbers  # V_local, as the matrices keep it
    base: Numbers | None  # (clients, q, q) sums of which a full matrix was last computed afresh
    thetas: Numbers  # (clients, p_0): trained weights
    turns: Ints  # (clients,)
    load: Floats  # (clients,) the n of theorem 1's rate
    used: Ints  # (clients,) latest features that are not in `base`


class Located(NamedTuple):
    """What the compiled functions need to take in observations, and where they belong."""

    past: Past
    matrix: Numbers  # V_local of those who observed
    observed: Floats  # (n, d + 1): chosen context and reward
    places: Ints  # (3, n): the client, the place in its history, and that among its latest features
    load: Numbers  # (n,)


class Learner:
    """Clients that observe and train; all of a cohort at once, or some."""

    def __init__(self, rounds: Rounds, train_until: int, warm_start: bool, rate_bound: str) -> None:
        """Take the compiled functions, and when, whence and how fast to train."""
        self.rounds = rounds
        self.train_until = train_until
        self.warm_start = warm_start
        self.rate_bound = rate_bound
        self.loads = LOADS[rate_bound]
        self.initial = rounds.network.initial

    def habits(
        self,
        *,
        trains_from: str = "own",
        predicts_with: str = "own",
        weighs_ratio: bool = False,
        all_inverses: bool = False,
    ) -> RoundSettings:
        """Return how clients go about it who learn like this."""
        begins = trains_from if self.warm_start else "initial"
        return RoundSettings(self.rate_bound, self.train_until, begins, predicts_with, weighs_ratio, all_inverses)

    def start(self, clients: int) -> Own:
        """Return clients that have observed nothing."""
        device, network = self.rounds.device, self.rounds.network
        chunks = max(1, -(-min(self.train_until, ROOM) // device.chunk))
        latest = None if self.rounds.plan.diagonal else (clients, REFRESH, network.coordinates)
        return Own(
            past=Past(
                jnp.zeros((clients, chunks, network.inputs, device.chunk), device.dtype),
                jnp.zeros((clients, chunks, device.chunk), device.dtype),
                None if latest is None else jnp.zeros(latest, device.dtype),
            ),
            matrix=self.rounds.matrices.start(clients, device.dtype),
            base=None,
            thetas=jnp.broadcast_to(device.put(self.initial), (clients, network.parameters)),
            turns=np.zeros(clients, dtype=np.int64),
            load=np.zeros(clients),
            used=np.zeros(clients, dtype=np.int64),
        )

    def observe(self, own: Own, who: Ints, seen: Observations) -> None:
        """Take in what each client of `who` observed."""
        new = self._located(own, who, seen)
        past, matrix, _ = self.rounds.observe(new.past, new.matrix, new.observed, new.places)
        self._keep(own, who, past, matrix, new.load)

    def observe_for_upload(self, own: Own, who: Ints, seen: Observations, learnt: Learnt, synced: Numbers) -> Gain:
        """Take in what each client of `who` observed; return what that adds to what they have `learnt` since uploads.

        `synced` is the diagonal of W_sync, against which the growth is measured.
        """
        new = self._located(own, who, seen)
        past, matrix, gain = self.rounds.observe_for_upload(
            new.past, new.matrix, learnt, synced, new.observed, new.places
        )
        self._keep(own, who, past, matrix, new.load)
        return gain

    def _located(self, own: Own, who: Ints, seen: Observations) -> Located:
        at = own.turns[who]
        past = self.room_for(own, int(at.max()))
        at = np.where(at < self.train_until, at, np.iinfo(np.int32).max)  # what is never trained on is not remembered
        chosen = seen.features[np.arange(len(who)), seen.choice]
        observed = self.rounds.device.cast(np.column_stack([chosen, seen.feedback]))
        places = np.stack([who, at, own.used[who]])
        return Located(past, rows_of(own.matrix, who, len(own.turns)), observed, places, self.loads(chosen))

    def _keep(self, own: Own, who: Ints, past: Past, matrix: Array, load: Numbers) -> None:
        own.past, own.matrix = past, put_rows(own.matrix, who, matrix, len(own.turns))
        own.turns[who] += 1
        own.load[who] += load
        own.used[who] += 1
        self.refresh(own)

    def refresh(self, own: Own) -> None:
        """Compute inverses afresh before rounding errors add up, if it is time to."""
        if own.past.features is None or own.used.max() < own.past.features.shape[1]:
            return
        own.base, latest, own.matrix = self.rounds.refresh(own.base, own.past.features, own.matrix)
        own.past = own.past._replace(features=latest)
        own.used[:] = 0

    def train(self, own: Own, who: Ints, begin: Numbers | None = None) -> None:
        """Train the networks of those clients of `who` that are still to be trained.

        A warm start is from `begin`, weights of each client or one row for all, or from the client's own last weights.
        """
        turns = own.turns[who]
        counts = np.where(turns <= self.train_until, turns, 0)
        if not counts.any():
            return
        clients = len(own.turns)
        thetas = rows_of(own.thetas, who, clients)
        if not self.warm_start:
            begin = self.rounds.device.put(self.initial)[None]
        begin = thetas if begin is None else begin
        contexts, rewards = (rows_of(each, who, clients) for each in own.past[:2])
        sizes = self.rounds.device.cast([counts, own.load[who]])
        own.thetas = put_rows(own.thetas, who, self.rounds.train(thetas, begin, contexts, rewards, sizes), clients)

    def checked_rounds(self, choices: Ints, own: Own) -> Ints:
        """Return the arms (rounds, clients) of everyone, or say that there are none to choose by."""
        diverged = (choices < 0).any(axis=1)
        first = int(np.argmax(diverged))
        self.checked(choices[first], own, np.arange(len(own.turns)), first)
        return choices

    def checked(self, choice: Numbers | Ints, own: Own, who: Ints, ahead: int = 0) -> Ints:
        """Return the arms of clients, `ahead` rounds after those that they know, or say that there are none."""
        arms = plain(choice).astype(np.int64)
        if (arms < 0).any():
            client = int(who[np.argmax(arms < 0)])
            round_ = own.turns[client] + ahead + 1
            raise InvalidInput(
                f"the predictions of client {client} in round {round_} are not finite, because its training diverged "
                f"with train_rate={self.rounds.plan.train_rate:g}: lower it, or set "
                "regulariser=anchor and rate_bound=lengths"
            )
        return arms

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

    def room_for(self, own: Own, last: int) -> Past:
        """Return the history with room for a client's observation `last`, if it is ever trained on."""
        contexts, rewards, features = own.past
        while rewards.shape[1] * rewards.shape[2] <= min(last, self.train_until - 1):
            contexts, rewards = (jnp.concatenate([each, jnp.zeros_like(each)], axis=1) for each in (contexts, rewards))
        return Past(contexts, rewards, features)

    def span(self, own: Own, most: int) -> tuple[int, bool]:
        """Return how many rounds, `most` at most, can be played until the next change, and whether they train."""
        length, done = min(most, SPAN), int(own.turns[0])
        if own.past.features is not None:
            length = min(length, own.past.features.shape[1] - int(own.used[0]))
        trains = done < self.train_until
        return min(length, self.train_until - done) if trains else length, trains

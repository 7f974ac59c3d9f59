"""The two sides of an algorithm, without input or output.

Neither side opens a socket, reads a clock or draws a random number: what a turn needs of randomness arrives as
`draws`, standard normals from the acting client's own stream. The same two objects run in the simulator, under
injected faults and in production. State belongs to the caller and is updated in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.drawn import Drawn, Identity
from fedbandit.core.messages import Download, Message, Upload
from fedbandit.core.releases import HidesReleases
from fedbandit.core.scores import ScorePart
from fedbandit.core.side import Side
from fedbandit.core.turns import Observations, Turns

if TYPE_CHECKING:
    from fedbandit.core.shortcuts import RoundsShortcut, TurnsShortcut

M = TypeVar("M", bound=Message, covariant=True)


class Cadence(Enum):
    """When messages may flow."""

    TURN = "turn"  # after any turn
    ROUND = "round"  # when all clients have acted once


@dataclass(frozen=True, slots=True)
class Outgoing(Generic[M]):
    """A message with the clients at its other end: the senders of an upload, the recipients of a download."""

    clients: Ints
    message: M


class Decided(NamedTuple):
    """What the acting clients choose: (m,) arms, or (m, 2) pairs of arms."""

    choices: Ints
    propensity: Floats | None = None  # how likely each choice was before its lot was drawn; None where none is drawn
    expected: Floats | None = None  # the reward of each choice, if the client learns from how far off that was


class Played(NamedTuple):
    """What `Clients.play` did: how many turns, which arms, and what the last of these turns sends.

    Where the next turn begins with a question, that is what is sent, and the turn is played when it is answered.
    """

    choices: Ints
    outgoing: Sequence[Outgoing[Upload]]
    propensity: Floats | None = None  # as in `Decided`, of each turn
    asks: bool = False  # what is sent is a question of the turn to come


class Clients(Side, HidesReleases, Protocol):
    """The client side of one algorithm, for a cohort of one client (a site) or many (a simulation).

    `who` names distinct clients that act now: one where turns are asynchronous, all of them in a round.
    """

    cadence: Cadence
    draws: int  # how many standard normals one turn of one client consumes
    draws_lot: bool = False  # the first of them is a lot, which chooses from arms whose `chances` are known
    explore: float = 0.0  # share of choices that are uniform, by the lot: see `core.exploring`
    samples: int = 0  # of the standard normals after that lot: those of a sample that names the arm of other choices
    asks: bool = False  # whether clients ever ask the server something before they choose
    secret_bytes: int = 0  # random ones that a site draws for its answer to a download: see `core.drawn`
    learns_from_choice: bool = False  # `learn` looks at the chosen arms alone: a site need not keep what else was there

    def start(self, clients: int) -> Any:
        """Return the state of a cohort that has seen nothing."""

    def choose(self, state: Any, who: Ints, features: Floats, draws: Floats) -> Ints:
        """Return the choice of each client of `who`: (m,) arms, or (m, 2) pairs of arms."""

    def decide(self, state: Any, who: Ints, features: Floats, draws: Floats) -> Decided:
        """Return what `choose` returns, with what is known of how likely it was; a side that draws lots says it."""
        return Decided(self.choose(state, who, features, draws))

    def score_parts(self, state: Any, client: int) -> Sequence[ScorePart] | None:  # noqa: ARG002
        """Return of what a client's scores consist now, so that others can decide by them; None if not of such parts.

        Then the score of an arm is the sum over the parts of x^T estimate + bonus * sqrt(x^T inverse x), where x are
        the arm's coordinates from `first` on, and the first arm wins whose score ties with the best.
        """
        return None

    def chances(self, state: Any, who: Ints, features: Floats, draws: Floats) -> Floats:  # noqa: ARG002
        """Return how likely each client of `who` is to choose each arm (m, K), before it draws its lot."""
        raise TypeError(f"{type(self).__name__} draws no lot")

    def named(self, state: Any, who: Ints, features: Floats, sample: Floats) -> Floats:  # noqa: ARG002
        """Return 1 for the arm that each client's sample of `samples` names, and 0 for all others (m, K)."""
        raise TypeError(f"{type(self).__name__} mixes no choices with uniform ones")

    def expected(self, state: Any, who: Ints, features: Floats, choices: Ints) -> Floats | None:  # noqa: ARG002
        """Return the reward that each client expects of a choice, if it learns from how far off that was.

        Whoever tells the reward later hands back in `Observations` what `decide` said; without it `learn` looks at what
        is expected now.
        """
        return None

    def predicted(self, state: Any, who: Ints, features: Floats, choices: Ints) -> Floats | None:  # noqa: ARG002
        """Return the mean reward that each client's model gives its choice, for a log; None without such a model."""
        return None

    def learn(self, state: Any, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Take in what each client of `who` observed; return what they now send."""

    def receive(self, state: Any, to: Ints, message: Any) -> Sequence[Outgoing[Upload]]:
        """Take in a download at the clients `to`; return what they now send."""

    def warnings(self, state: Any, ended: bool = False) -> Sequence[str]:  # noqa: ARG002
        """Return what whoever runs the clients should know and act on: sentences with a remedy, none if all is well.

        A simulation asks when it has ended, a site after each reward until it was told something: it must cost little.
        """
        return ()

    def play(self, state: Any, turns: Turns, start: int, draws: Floats) -> Played:
        """Choose and learn turn after turn from `start` on, until something is to be sent or the block ends.

        The arithmetic is that of `ask`, `choose` and `learn`; an algorithm overrides it only to be faster.
        """

    def ask(
        self, state: Any, who: Ints, made: Ints | None = None, is_opened: bool = False  # noqa: ARG002
    ) -> Sequence[Outgoing[Upload]]:  # fmt: skip
        """Return what clients ask the server before they choose; asked once more before the same turn, nothing.

        `made` tells the turns that each has begun; without it, as many as it has learnt from. `is_opened` says that a
        site was opened just now, and so has been away.
        """
        return ()

    def receive_drawn(self, state: Any, to: Ints, message: Any, drawn: Drawn | None) -> Sequence[Outgoing[Upload]]:  # noqa: ARG002
        """Take in a download where its answer may need random bytes: see `secret_bytes`."""
        return self.receive(state, to, message)

    def check(self, state: Any, message: Any, identity: Identity) -> None:  # noqa: ARG002
        """Raise ProtocolError if a client does not answer a download, given how it knows others: it is not heard."""
        return

    def without_secrets(self, state: Any) -> Any:
        """Return a state as a policy may be kept of it, without what nobody else may have."""
        return state

    def receive_late(self, state: Any, to: Ints, message: Any, lacks: Ints) -> Sequence[Outgoing[Upload]]:  # noqa: ARG002
        """Take in a download that was made before some of what each client has sent had arrived.

        Bit k of `lacks` is set iff the last thing but k that the client sent is not in it; negative: it is not clear.
        """
        return self.receive(state, to, message)

    def on_the_way(self, state: Any, who: Ints, is_any: bool) -> None:  # noqa: ARG002
        """Hear whether anything that clients have sent may not have arrived yet; carried at once, nothing is."""
        return


class Server(Side, Protocol):
    """The server side of one algorithm.

    `bounds`, `check`, `sums` and `rounding` tell a coordinator what no honest client sends, beyond what each message
    type says of itself (`Upload.check`). A side that inherits them says nothing more.
    """

    rounding: float = 0.0  # share of a client's observations by which its uploads are beyond them (`Upload.excess`)
    begins_anew: bool = False  # whether its model is found anew without one client (`core.erasing`): at points to which
    #                            that has moved it, gradients say nothing; what is told apart from the model stays

    def start(self, clients: int) -> Any:
        """Return the state of a server that has received nothing; `clients` is the size of the roster."""

    def receive(self, state: Any, senders: Ints, message: Any) -> Sequence[Outgoing[Download]]:
        """Take in one upload of each sender; return what the server now sends."""

    def bounds(self, known: Bounds) -> Bounds:
        """Return the bounds of what uploads sum up, from those of arms and rewards.

        They differ where the sums are not of arms and rewards as they are: over differences, features, residuals.
        """
        return known

    def check(self, state: Any, sender: int, message: Any, bounds: Bounds, observations: int) -> None:  # noqa: ARG002
        """Raise ProtocolError if no honest client can send this, given the server's parameters and what it has heard.

        `bounds` are those that this side returned. `observations` is how many the sender has told of before.
        """
        return

    def sums(self, state: Any) -> Sequence[Floats]:  # noqa: ARG002
        """Return what uploads are summed into: an upload after which a number of it is not finite is not taken in."""
        return ()

    def restarts(self, state: Any) -> int:  # noqa: ARG002
        """Return how often the server has let all be forgotten; its node lets both sides age by 0 when that grows."""
        return 0

    def peers(self, state: Any) -> Ints | None:  # noqa: ARG002
        """Return with how many others each client shares now; None where all share with all."""
        return None


class Federation(NamedTuple):
    """Both sides of one algorithm with its parameters, ready to run."""

    clients: Clients
    server: Server
    shortcut: RoundsShortcut | TurnsShortcut | None = None  # what a simulation takes in place of messages


class TurnByTurn(Clients):
    """Gives a client side the plain `play`: ask, choose, observe, learn, until something is to be sent."""

    def play(self, state: Any, turns: Turns, start: int, draws: Floats) -> Played:
        """Play turns one at a time through `ask`, `decide` and `learn`."""
        choices: list[Ints] = []
        propensity: list[Floats] = []
        outgoing: Sequence[Outgoing[Upload]] = ()
        is_asking = False
        for turn in range(start, len(turns)):
            now = slice(turn, turn + 1)
            who, features = turns.client[now], turns.features[now]
            outgoing = self.ask(state, who)
            is_asking = bool(outgoing)
            if not is_asking:
                choice, likely, _ = self.decide(state, who, features, draws[now])
                choices.append(choice)
                if likely is not None:
                    propensity.append(likely)
                feedback = turns.outcomes.feedback(now, choice)
                outgoing = self.learn(state, who, Observations(features, choice, feedback))
            if outgoing:
                break
        chosen = np.concatenate(choices) if choices else np.empty(0, dtype=np.int64)
        return Played(chosen, outgoing, np.concatenate(propensity) if propensity else None, is_asking)

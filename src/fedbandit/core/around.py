"""Sides around other sides: what such a side does not do in its own way is done by the side within.

Every member of the protocols is handed on here by name, so that a side around another is one of its protocol, for the
type checker too. What only some sides can do (`core.forgetting`, `core.deadlines`, `core.erasing`,
`core.taking_many`) is not handed on: a class that means it says so itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, cast

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.drawn import Drawn, Identity
from fedbandit.core.interfaces import Clients, Decided, Outgoing, Played, Server
from fedbandit.core.messages import Download, Upload
from fedbandit.core.releases import Privacy, Releases
from fedbandit.core.scores import ScorePart
from fedbandit.core.side import Side
from fedbandit.core.turns import Observations, Turns

AnySide = TypeVar("AnySide", bound=Side)


class _Around(Side):
    """What both kinds have in common."""

    within: Any

    def __init__(self, within: Side) -> None:
        """Take the side, and what it says of its messages."""
        self.within = within
        self.sizes = within.sizes
        self.kinds = within.kinds
        self.number_bytes = within.number_bytes
        self.discount = within.discount
        self.may_restart = within.may_restart

    def inner(self, state: Any) -> Any:
        """Return what the side within knows; here all that there is."""
        return state

    def with_inner(self, state: Any, inner: Any) -> Any:  # noqa: ARG002
        """Return the state in which the side within knows this."""
        return inner

    def revised(self, state: Any, before: Any, places: Ints | None = None) -> Any:
        """Return the state with other parameters."""
        return self.with_inner(state, self.within.revised(self.inner(state), before, places))

    def carried_over(self, message: Any, before: Any, places: Ints) -> Any:
        """Return a message as it is with other features."""
        return self.within.carried_over(message, before, places)


class WithOwnState(_Around):
    """One whose state holds more than that of the side within, which it has as `within`; inherit this one first."""

    def inner(self, state: Any) -> Any:
        """Return what the side within knows."""
        return state.within

    def with_inner(self, state: Any, inner: Any) -> Any:
        """Let the side within know this."""
        state.within = inner
        return state


class ClientsAround(_Around, Clients):
    """A client side around another."""

    within: Clients

    def __init__(self, within: Clients) -> None:
        """Take the side, and what it says of itself."""
        super().__init__(within)
        self.cadence = within.cadence
        self.draws = within.draws
        self.draws_lot = within.draws_lot
        self.explore = within.explore
        self.samples = within.samples
        self.asks = within.asks
        self.secret_bytes = within.secret_bytes
        self.learns_from_choice = within.learns_from_choice
        self.noise_size = within.noise_size

    def start(self, clients: int) -> Any:
        """Return a cohort that has seen nothing."""
        return self.within.start(clients)

    def choose(self, state: Any, who: Ints, features: Floats, draws: Floats) -> Ints:
        """Return the choice of each client."""
        return self.within.choose(self.inner(state), who, features, draws)

    def decide(self, state: Any, who: Ints, features: Floats, draws: Floats) -> Decided:
        """Return the choices, with what is known of how likely they were."""
        return self.within.decide(self.inner(state), who, features, draws)

    def score_parts(self, state: Any, client: int) -> Sequence[ScorePart] | None:
        """Return of what scores consist."""
        return self.within.score_parts(self.inner(state), client)

    def chances(self, state: Any, who: Ints, features: Floats, draws: Floats) -> Floats:
        """Return how likely each arm is."""
        return self.within.chances(self.inner(state), who, features, draws)

    def named(self, state: Any, who: Ints, features: Floats, sample: Floats) -> Floats:
        """Return which arm a sample names."""
        return self.within.named(self.inner(state), who, features, sample)

    def expected(self, state: Any, who: Ints, features: Floats, choices: Ints) -> Floats | None:
        """Return the reward that is expected of each choice."""
        return self.within.expected(self.inner(state), who, features, choices)

    def predicted(self, state: Any, who: Ints, features: Floats, choices: Ints) -> Floats | None:
        """Return the mean reward by the model."""
        return self.within.predicted(self.inner(state), who, features, choices)

    def learn(self, state: Any, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Take in what was observed; return what is sent."""
        return self.within.learn(self.inner(state), who, seen)

    def receive(self, state: Any, to: Ints, message: Any) -> Sequence[Outgoing[Upload]]:
        """Take in a download; return what is sent."""
        return self.within.receive(self.inner(state), to, message)

    def warnings(self, state: Any, ended: bool = False) -> Sequence[str]:
        """Return what whoever runs the clients should know."""
        return self.within.warnings(self.inner(state), ended)

    def play(self, state: Any, turns: Turns, start: int, draws: Floats) -> Played:
        """Play turns until something is to be sent."""
        return self.within.play(self.inner(state), turns, start, draws)

    def ask(
        self, state: Any, who: Ints, made: Ints | None = None, is_opened: bool = False
    ) -> Sequence[Outgoing[Upload]]:
        """Return what clients ask before they choose."""
        return self.within.ask(self.inner(state), who, made, is_opened)

    def receive_drawn(self, state: Any, to: Ints, message: Any, drawn: Drawn | None) -> Sequence[Outgoing[Upload]]:
        """Take in a download whose answer may need random bytes."""
        return self.within.receive_drawn(self.inner(state), to, message, drawn)

    def check(self, state: Any, message: Any, identity: Identity) -> None:
        """Refuse a download that is not answered."""
        self.within.check(self.inner(state), message, identity)

    def without_secrets(self, state: Any) -> Any:
        """Return the state as a policy may be kept of it."""
        return self.with_inner(state, self.within.without_secrets(self.inner(state)))

    def receive_late(self, state: Any, to: Ints, message: Any, lacks: Ints) -> Sequence[Outgoing[Upload]]:
        """Take in a download in which some of what was sent is not."""
        return self.within.receive_late(self.inner(state), to, message, lacks)

    def on_the_way(self, state: Any, who: Ints, is_any: bool) -> None:
        """Hear whether something is on the way."""
        self.within.on_the_way(self.inner(state), who, is_any)

    def lacks_noise(self, state: Any) -> Ints:
        """Return who needs noise."""
        return self.within.lacks_noise(self.inner(state))

    def take_noise(self, state: Any, client: int, normals: Floats, stream: int = 0) -> None:
        """Take noise for what a client releases next."""
        self.within.take_noise(self.inner(state), client, normals, stream)

    def releases(self, state: Any, client: int) -> Releases:
        """Return how far a client has come with its releases."""
        return self.within.releases(self.inner(state), client)

    def privacy(self, state: Any, client: int) -> Privacy | None:
        """Return what a client's releases have told."""
        return self.within.privacy(self.inner(state), client)


class ServerAround(_Around, Server):
    """A server side around another."""

    within: Server

    def __init__(self, within: Server) -> None:
        """Take the side, and what it says of itself."""
        super().__init__(within)
        self.rounding = within.rounding
        self.begins_anew = within.begins_anew

    def start(self, clients: int) -> Any:
        """Return a server that has received nothing."""
        return self.within.start(clients)

    def receive(self, state: Any, senders: Ints, message: Any) -> Sequence[Outgoing[Download]]:
        """Take in uploads; return what is sent."""
        return self.within.receive(self.inner(state), senders, message)

    def bounds(self, known: Bounds) -> Bounds:
        """Return the bounds of what uploads sum up."""
        return self.within.bounds(known)

    def check(self, state: Any, sender: int, message: Any, bounds: Bounds, observations: int) -> None:
        """Refuse what no honest client sends now."""
        self.within.check(self.inner(state), sender, message, bounds, observations)

    def sums(self, state: Any) -> Sequence[Floats]:
        """Return what uploads are summed into."""
        return self.within.sums(self.inner(state))

    def restarts(self, state: Any) -> int:
        """Return how often all was forgotten."""
        return self.within.restarts(self.inner(state))

    def peers(self, state: Any) -> Ints | None:
        """Return with how many others each client shares."""
        return self.within.peers(self.inner(state))


def innermost(side: AnySide) -> AnySide:
    """Return the side that has no other within."""
    found: Side = side
    while isinstance(found, _Around):
        found = found.within
    return cast(AnySide, found)

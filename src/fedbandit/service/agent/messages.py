"""What is said over HTTP, declared once: requests are checked against it, and the OpenAPI document is made of it."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

Identity = Annotated[str, Meta(description="The decision's id, as `choose` returned it.")]


class Choose(Struct, forbid_unknown_fields=True):
    """What is on offer: arms as vectors, or as tables of values where the site has features."""

    arms: Annotated[
        list[list[float] | dict[str, Any]] | None,
        Meta(description="One vector of numbers for each arm, or one table of values where the site has features."),
    ] = None
    context: Annotated[
        list[float] | dict[str, Any] | None,
        Meta(description="What is known of the case: values where the site has features, a vector that arms share."),
    ] = None
    ids: Annotated[list[str | int] | None, Meta(description="A name for each arm; without them arms count from 0.")] = (
        None
    )


class Decided(Struct):
    """A decision: play `arm`, and tell the reward of `id` when it is known."""

    id: Identity
    arm: Annotated[str | int | list[str | int], Meta(description="The chosen arm: its id or number; of a duel a pair.")]
    propensity: Annotated[float | None, Meta(description="How likely this choice was; null where that is not known.")]
    version: Annotated[int, Meta(description="Of the shared model: counts the coordinator's downloads.")]


class Learn(Struct, forbid_unknown_fields=True):
    """The reward of a decision; of a duel 1 if the first arm won, else 0."""

    id: Identity
    reward: float


class Learnt(Struct):
    """Whether the reward was new: false if it has come before, or too late, which changes nothing."""

    new: bool


class GiveUp(Struct, forbid_unknown_fields=True):
    """Wait no longer for the reward of a decision, as if it had expired."""

    id: Identity


class GivenUp(Struct):
    """Whether the decision was waiting: false if its reward has come, or it has ended before."""

    ended: bool


class State(Struct):
    """How the site stands."""

    state: Annotated[str, Meta(description="offline, connecting, connected, refused or failing.")]
    trouble: Annotated[str, Meta(description='What is wrong, in a sentence; "" if nothing is.')]
    number: Annotated[int, Meta(description="The site's number in its federation.")]
    algorithm: str
    version: Annotated[int, Meta(description="Of the shared model: counts the coordinator's downloads.")]
    pending: Annotated[int, Meta(description="Decisions that await their reward.")]
    unsent: Annotated[int, Meta(description="Uploads that the coordinator has not acknowledged.")]
    refused: Annotated[list[str], Meta(description="Why uploads were refused for good, the last ones.")]


class Health(Struct):
    """Whether the service can decide and keep what it learns; a coordinator that is away does not matter."""

    alive: bool
    ready: bool
    trouble: str


class Mistake(Struct):
    """What is wrong with a request, in one sentence; nothing was changed by it."""

    error: str

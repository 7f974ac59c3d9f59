"""What a coordinator's file says that its federations cannot do."""

from __future__ import annotations

from collections.abc import Mapping

from fedbandit.core.deadlines import MeetsDeadlines
from fedbandit.core.errors import InvalidInput
from fedbandit.protocol.charter import Charter

HIDDEN = (
    "secure_aggregation hides what one site sends, so that limits hold for sums over sites alone, and rates for none: "
    "a site that lies can shift the shared model at will, and nobody sees which"
)


def check_deadline(name: str, charter: Charter, deadline: float | None) -> None:
    """Refuse a deadline that is none, or that has nothing to end."""
    where = f"federations.{name}"
    if deadline is not None and deadline <= 0:
        raise InvalidInput(f"{where}.deadline must be greater than 0, not {deadline}: give seconds, or leave it out")
    if deadline is not None and not isinstance(charter.build().server, MeetsDeadlines):
        raise InvalidInput(f"{where}.deadline has no meaning for {charter.algorithm.id}: leave it out")


def check_secure(broker: str, federations: Mapping[str, Charter]) -> None:
    """Refuse secure aggregation among sites that cannot show each other who they are."""
    for name, charter in federations.items():
        if charter.smallest_cohort is not None and not broker.startswith("tls://"):
            raise InvalidInput(
                f"federations.{name}.secure_aggregation needs certificates, by which sites know each other: write "
                f"tls:// in place of {broker}, or leave it out"
            )

"""What a coordinator's file says that its federations cannot do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fedbandit.core.deadlines import MeetsDeadlines
from fedbandit.core.errors import InvalidInput
from fedbandit.protocol.charter import Charter

GUARDS = {"context": "1.0", "reward": "1.0", "observations_per_second": "100"}  # limits to set, with an example of each
HIDDEN = (
    "secure_aggregation hides what one site sends, so that limits hold for sums over sites alone, and rates for none: "
    "a site that lies can shift the shared model at will, and nobody sees which"
)


def lacking(name: str, missing: Sequence[str]) -> str:
    """Return what is to be said of a federation that lacks some of the limits that guard it.

    >>> lacking("shops", ["reward"]).partition(": ")[2]
    'add reward = 1.0 to the limits in [federations.shops], with numbers that hold for your data'
    """
    line = ", ".join(f"{each} = {GUARDS[each]}" for each in missing)
    remedy = f"write limits = {{ {line} }}" if len(missing) == len(GUARDS) else f"add {line} to the limits"
    return (
        f"no limit is set for {', '.join(missing)}, so one site can pull the shared model as far as it likes: "
        f"{remedy} in [federations.{name}], with numbers that hold for your data"
    )


def check_authority(broker: str, rosters: Mapping[str, str]) -> None:
    """Refuse rosters where there are no certificates; or one, by its journal's name, in the place of a federation."""
    if not broker.startswith("tls://"):
        raise InvalidInput(f"authority is of no use with {broker}: write tls://, or leave it out")
    for name, journal in rosters.items():
        if journal in rosters:
            raise InvalidInput(f"federations.{journal}: the roster of {name} is kept under this name: choose another")


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

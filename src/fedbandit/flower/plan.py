"""What a federation in Flower has agreed on, from the configuration of a Flower run: keys that begin with `fedbandit.`

[tool.flwr.app.config.fedbandit]
algorithm = "fldb-ogd"
clients = 3
dimension = 5
arms = 4             # 1 where the algorithm need not know
rounds = 200         # in each of which every site has one turn
seed = 0             # of what sites draw when they choose
deadline = 60.0      # seconds after which a round goes on without silent sites; without it, they are waited for
journal = "clinics.db"  # at the server: with it the next run goes on from what this one has learnt

[tool.flwr.app.config.fedbandit.set]
ridge = 1.0          # parameters of the algorithm

[tool.flwr.app.config.fedbandit.limits]
context = 1.0        # no arm is longer, and no reward farther from zero
reward = 1.0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fedbandit.core.algorithm import algorithms
from fedbandit.core.errors import InvalidInput, unknown
from fedbandit.core.interfaces import Cadence
from fedbandit.durable.checked_input import checked_limits
from fedbandit.protocol.agreement import charter_of
from fedbandit.protocol.charter import Charter

PREFIX = "fedbandit."
_WORDS = {str: "a text", int: "a whole number", float: "a number"}
_KEYS: dict[str, type] = {
    "algorithm": str, "clients": int, "dimension": int, "arms": int, "rounds": int, "seed": int, "deadline": float,
    "journal": str,
}  # fmt: skip
_NEEDED = ("algorithm", "clients", "dimension", "rounds")
_LIMITS = ("context", "reward")
_SECURE = ("secure_aggregation", "smallest_cohort")


@dataclass(frozen=True)
class Plan:
    """A federation, and how its rounds go."""

    charter: Charter
    rounds: int
    seed: int = 0
    deadline: float | None = None
    journal: str = ""

    @property
    def takes_turns(self) -> bool:
        """Tell whether messages may follow any turn: then the sites of a round act one after the other."""
        return self.charter.build().clients.cadence is Cadence.TURN


def read_plan(config: Mapping[str, Any]) -> Plan:
    """Read and check the keys of a run's configuration that begin with `fedbandit.`; all others are the app's own.

    >>> sizes = {"fedbandit.clients": 3, "fedbandit.dimension": 5, "fedbandit.arms": 4, "fedbandit.rounds": 20}
    >>> read_plan({"fedbandit.algorithm": "fldb-ogd", **sizes, "lr": 0.1}).charter.setting.horizon
    20
    """
    own = {name.removeprefix(PREFIX): value for name, value in config.items() if name.startswith(PREFIX)}
    parameters = {name[4:]: own.pop(name) for name in list(own) if name.startswith("set.")}
    limits = {name[7:]: own.pop(name) for name in list(own) if name.startswith("limits.")}
    for name in own:
        if name not in _KEYS:
            raise unknown("key", PREFIX + name, [PREFIX + each for each in (*_KEYS, "set.NAME", "limits.NAME")])
    for name in _NEEDED:
        if name not in own:
            raise InvalidInput(f"{PREFIX}{name} is missing: give it in [tool.flwr.app.config.fedbandit]")
    values = {name: _value(name, value) for name, value in own.items()}
    for name, least in (("rounds", 1), ("seed", 0)):
        if values.get(name, 1) < least:
            raise InvalidInput(f"{PREFIX}{name} must be at least {least}, not {values[name]}: give another number")
    if not values.get("deadline", 1.0) > 0:
        raise InvalidInput(
            f"{PREFIX}deadline must be greater than 0, not {values['deadline']:g}: give seconds, or leave it out"
        )
    charter = _charter(values, parameters, limits)
    given = {name: values[name] for name in ("seed", "deadline", "journal") if name in values}
    return Plan(charter, values["rounds"], **given)


def _value(name: str, value: Any) -> Any:
    kind = _KEYS[name]
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InvalidInput(f"{PREFIX}{name} must be {_WORDS[kind]}, not {value!r}: give such a value")
    return value


def _charter(values: dict[str, Any], parameters: dict[str, Any], limits: dict[str, Any]) -> Charter:
    for name in limits:
        if name not in _LIMITS:
            raise unknown("key", f"{PREFIX}limits.{name}", [f"{PREFIX}limits.{each}" for each in _LIMITS])
    secure = next((name for name in parameters if name in _SECURE), None)
    if secure:
        raise InvalidInput(
            f"{PREFIX}set.{secure} needs sites that know each other by certificates: use a coordinator "
            "(fedbandit serve), or leave it out"
        )
    _require_no_discount(parameters)
    algorithm = algorithms[values["algorithm"]]
    clients, rounds = values["clients"], values["rounds"]
    try:
        checked_limits(limits)
        charter = charter_of(
            values["algorithm"], parameters, clients=clients, arms=values.get("arms", 1), dimension=values["dimension"],
            horizon=rounds if algorithm.acts_in_rounds else rounds * clients, epoch_seconds=None, features=None,
            limits=limits,
        )  # fmt: skip
    except InvalidInput as error:
        raise InvalidInput(f"{PREFIX.rstrip('.')}: {error}") from None
    _require_runnable(charter)
    return charter


def _require_no_discount(parameters: dict[str, Any]) -> None:
    """Refuse what forgets by a clock, since rounds have none."""
    if parameters.get("discount", 1.0) != 1.0:
        raise InvalidInput(
            f"{PREFIX}set.discount={parameters['discount']} forgets when epochs end, which rounds have not: use a "
            "coordinator (fedbandit serve), or leave it out"
        )


def _require_runnable(charter: Charter) -> None:
    """Refuse what needs more than Flower carries."""
    algorithm = charter.algorithm
    if algorithm.hides_releases:
        raise InvalidInput(
            f"{PREFIX}algorithm {algorithm.id} keeps an account of its noise on the site's disk, which Flower's "
            "context is not: use a coordinator (fedbandit serve)"
        )
    if algorithm.shares_raw_data:
        raise InvalidInput(
            f"{PREFIX}algorithm {algorithm.id} sends what sites have observed, and is for simulations: choose another"
        )

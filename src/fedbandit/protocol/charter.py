"""What a federation has agreed on: the algorithm with its parameters, and the setting. Every file names its charter."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import blake2b
from typing import Any

from fedbandit.core.algorithm import Algorithm, Setting, algorithms
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import InvalidInput
from fedbandit.core.former_names import former_fields
from fedbandit.core.interfaces import Federation
from fedbandit.core.messages import Download, Upload
from fedbandit.protocol.charter_fields import contrast
from fedbandit.protocol.chosen_algorithm import algorithm_of
from fedbandit.protocol.ending import FOR_EVER, Ending
from fedbandit.protocol.schema import Schema
from fedbandit.protocol.securing import require_aggregable, secured

NEEDLESS_SIZES = "another number of arms or another horizon"
_DIFFERENCES = (
    "another algorithm",
    "other parameters",
    "another number of clients or another dimension",
    NEEDLESS_SIZES,
)


@dataclass(frozen=True)
class Charter:
    """An algorithm in a setting, for one that forgets how long its epochs are, and what vectors are made of.

    >>> charter = Charter.named("async-linucb", Setting(clients=3, arms=2, dimension=4, horizon=100), ridge=1.0)
    >>> Charter.from_text(charter.text) == charter
    True
    """

    algorithm: Algorithm
    setting: Setting
    epoch_seconds: float | None = None  # None: whoever runs the nodes tells them the epoch by another measure
    features: str | None = None  # the fingerprint of their declaration; None: applications hand in vectors
    smallest_cohort: int | None = None  # of sums that are aggregated securely; None: they are not
    limits: dict[str, float] = field(default_factory=dict, compare=False)  # of input; to a site, as it was told them
    ending: Ending = field(default=FOR_EVER, compare=False)  # of decisions without a reward; likewise

    def __post_init__(self) -> None:
        """Refuse a length of epochs that is none, or that would do nothing, and what cannot be aggregated securely.

        >>> Charter.named("async-linucb", Setting(3, 2, 4, 100), epoch_seconds=60)
        Traceback (most recent call last):
        ...
        fedbandit.core.errors.InvalidInput: epoch_seconds=60 does nothing without a discount: give one below 1, or \
leave it out
        """
        if self.smallest_cohort is not None:
            require_aggregable(self.algorithm, self.smallest_cohort, self.setting.clients)
        seconds = self.epoch_seconds
        if seconds is None:
            return
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
            raise InvalidInput(f"epoch_seconds must be a number greater than 0, not {seconds!r}: give seconds")
        if self.algorithm.discount == 1.0:
            raise InvalidInput(
                f"epoch_seconds={seconds:g} does nothing without a discount: give one below 1, or leave it out"
            )

    @classmethod
    def named(
        cls, algorithm: str | Algorithm, setting: Setting, *, epoch_seconds: float | None = None,
        features: str | None = None, smallest_cohort: int | None = None,
        limits: Mapping[str, float] | None = None, ending: Ending = FOR_EVER, **parameters: Any,
    ) -> Charter:  # fmt: skip
        """Return the charter of an algorithm by its name and parameters, or as an object."""
        made = algorithm_of(algorithm, parameters, setting.clients)
        told = {name: float(each) for name, each in (limits or {}).items()}
        return cls(made, setting, epoch_seconds, features, smallest_cohort, told, ending)

    def with_limits(self, bounds: Bounds) -> Charter:
        """Return it with the limits of a coordinator, those that there are.

        >>> charter = Charter.named("async-linucb", Setting(clients=3, arms=2, dimension=4, horizon=100))
        >>> charter.with_limits(Bounds(reward=2.0)).limits
        {'reward': 2.0}
        """
        return replace(self, limits={name: each for name, each in asdict(bounds).items() if each < math.inf})

    def require_deployable(self) -> None:
        """Refuse a discount without epochs, which only a clock tells in a deployment, and restarts, which none has.

        >>> Charter.named("async-linucb", Setting(3, 2, 4, 100), discount=0.5).require_deployable()
        Traceback (most recent call last):
        ...
        fedbandit.core.errors.InvalidInput: discount=0.5 forgets when epochs end: give epoch_seconds, as in \
epoch_seconds=3600, the same to the coordinator and to all sites
        """
        if self.algorithm.restart_quorum:
            raise InvalidInput(
                f"restart_quorum={self.algorithm.restart_quorum} is for simulations and nodes that you carry messages "
                "between yourself: leave it at 0 in a deployment, and give a discount"
            )
        if self.algorithm.discount < 1.0 and self.epoch_seconds is None:
            raise InvalidInput(
                f"discount={self.algorithm.discount:g} forgets when epochs end: give epoch_seconds, as in "
                "epoch_seconds=3600, the same to the coordinator and to all sites"
            )

    def epoch_at(self, time: float) -> int:
        """Return the epoch of a time in seconds; always 0 where epochs have no length.

        >>> Charter.named("async-linucb", Setting(3, 2, 4, 100), epoch_seconds=60, discount=0.5).epoch_at(150.0)
        2
        """
        return 0 if self.epoch_seconds is None else max(0, int(time // self.epoch_seconds))

    @property
    def text(self) -> str:
        """Return the charter as JSON, the same text for the same charter."""
        values: dict[str, Any] = {
            "algorithm": self.algorithm.id,
            "parameters": self.algorithm.written(),
            "setting": asdict(self.setting),
        }
        if self.epoch_seconds is not None:
            values["epoch_seconds"] = self.epoch_seconds
        if self.features is not None:
            values["features"] = self.features
        if self.smallest_cohort is not None:
            values["smallest_cohort"] = self.smallest_cohort
        if self.limits:
            values["limits"] = self.limits
        return json.dumps(values | self.ending.told(), sort_keys=True)

    @property
    def fingerprint(self) -> int:
        """Return a number that two charters share if they are alike, by which a site introduces itself.

        Four parts of 16 bits: the algorithm, those parameters that are not at their defaults, the sizes that messages
        have, and the sizes that many algorithms need not know. What a later version adds with a default changes none.
        Features have a fingerprint of their own.
        """
        usual = {each.name: each.default for each in fields(self.algorithm)}
        chosen = {name: value for name, value in vars(self.algorithm).items() if value != usual[name]}
        if self.epoch_seconds is not None:
            chosen["epoch_seconds"] = float(self.epoch_seconds)
        if self.smallest_cohort is not None:
            chosen["smallest_cohort"] = self.smallest_cohort
        setting = self.setting
        parts = [
            self.algorithm.id, sorted(chosen.items()), [setting.clients, setting.dimension],
            [setting.arms, setting.horizon],
        ]  # fmt: skip
        packed = b"".join(blake2b(repr(each).encode(), digest_size=2).digest() for each in parts)
        return int.from_bytes(packed, "little") or 1  # 0 says that it is not told

    def differences(self, fingerprint: int, features: int = 0) -> list[str]:
        """Return what differs between this charter and the one of fingerprints, in words; features 0: it has none.

        >>> charter = Charter.named("async-linucb", Setting(clients=3, arms=2, dimension=4, horizon=100))
        >>> other = Charter.named("async-linucb", Setting(clients=3, arms=2, dimension=4, horizon=100), ridge=2.0)
        >>> charter.differences(other.fingerprint), charter.differences(charter.fingerprint)
        (['other parameters'], [])
        """
        differing = self.fingerprint ^ fingerprint
        if differing & 0xFFFF:  # each algorithm has parameters of its own
            differing &= ~(0xFFFF << 16)
        found = [words for part, words in enumerate(_DIFFERENCES) if differing >> 16 * part & 0xFFFF]
        if features != int(self.features or "0", 16):
            told = f"{features:016x}" if features else "none"
            found.append(f"other features ({told}, here {self.features or 'none'}: compare features.toml)")
        return found

    @classmethod
    def from_text(cls, text: str) -> Charter:
        """Return the charter that a text stands for."""
        try:
            values = json.loads(text)
            name, parameters, sizes = values["algorithm"], values["parameters"], values["setting"]
            setting = Setting(**{size: int(sizes[size]) for size in ("clients", "arms", "dimension", "horizon")})
            given = {key: float(value) if value == "inf" else value for key, value in parameters.items()}
            seconds, features = values.get("epoch_seconds"), values.get("features")
            cohort = None if values.get("smallest_cohort") is None else int(values["smallest_cohort"])
            limits = {str(key): float(value) for key, value in values.get("limits", {}).items()}
            ending = Ending.among(values)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InvalidInput(
                f"{text[:60]!r} is no charter: give the algorithm, its parameters and the setting"
            ) from None
        kind = algorithms[name]
        former = former_fields(kind)
        chosen = kind.from_values({former.get(key, key): value for key, value in given.items()})
        return cls(chosen, setting, seconds, features, cohort, limits, ending)

    def require(self, text: str, place: str) -> None:
        """Refuse a file that belongs to another charter; what it does not say has its default."""
        if text != self.text and not self._is_meant_by(text):
            raise InvalidInput(f"{place} belongs to another federation{self._contrast(text)}")

    def _contrast(self, text: str) -> str:
        try:
            return contrast(Charter.from_text(text), self)
        except InvalidInput:  # an algorithm or a parameter that is unknown here
            return f": it says {text}, not {self.text}"

    def _is_meant_by(self, text: str) -> bool:
        try:
            return Charter.from_text(text) == self
        except InvalidInput:
            return False

    def require_messages_within(self, most: int) -> None:
        """Refuse a federation that has a message of more than `most` bytes, which is more than its carrier takes.

        >>> setting = Setting(clients=3, arms=2, dimension=4, horizon=100)
        >>> Charter.named("async-linucb", setting).require_messages_within(1000)
        """
        sides = self.build()
        for side, direction in ((sides.server, Upload), (sides.clients, Download)):
            size = max(Schema.of(side, direction, self.setting).largest.values(), default=0)
            if size > most:
                raise InvalidInput(
                    f"{self.algorithm.id} has messages of {size} bytes, and {most} can be carried: "
                    f"{self.algorithm.lighter}"
                )

    def build(self) -> Federation:
        """Return both sides; the coordinator needs the server side."""
        return self._secured(self.algorithm.federation(self.setting), 0)

    def build_for(self, number: int) -> Federation:
        """Return both sides with the parameters of one site, which needs the client side."""
        if not 0 <= number < self.setting.clients:
            raise InvalidInput(
                f"number must be from 0 to {self.setting.clients - 1} with clients={self.setting.clients}, "
                f"not {number}: give another number, or more clients"
            )
        return self._secured(self.algorithm.for_client(number).federation(self.setting), number)

    @property
    def aggregation(self) -> dict[str, Any]:
        """Return what a program says to have sums aggregated securely, as they are here."""
        return {} if (least := self.smallest_cohort) is None else {"secure_aggregation": True, "smallest_cohort": least}

    def _secured(self, sides: Federation, number: int) -> Federation:
        least = self.smallest_cohort
        return sides if least is None else secured(sides, self.algorithm, self.setting, number, least)

"""How a federation's charter comes about, at its sites and at its coordinator alike: from an algorithm and its sizes,
and where there are features from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fedbandit.core.algorithm import Algorithm, Setting, algorithms
from fedbandit.core.errors import InvalidInput
from fedbandit.core.smallest_upload import has_smallest_upload, usual_smallest_upload
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.ending import FOR_EVER, Ending
from fedbandit.protocol.securing import cohort_in

if TYPE_CHECKING:
    from fedbandit.features.features import Features


def charter_of(
    algorithm: str | Algorithm,
    parameters: dict[str, Any],
    *,
    clients: int,
    arms: int,
    dimension: int | None,
    horizon: int,
    epoch_seconds: float | None,
    features: Features | None,
    limits: Mapping[str, float] | None = None,
    ending: Ending = FOR_EVER,
) -> Charter:
    """Return the charter; what features decide need not be given, and is refused if it is given otherwise.

    `parameters` are those of the algorithm, and `secure_aggregation` with `smallest_cohort`.

    >>> from fedbandit.features.features import Features
    >>> features = Features({"arm": {"price": {"kind": "number", "range": [0, 500]}}})
    >>> sizes = {"clients": 3, "arms": 1, "dimension": None, "horizon": 1, "epoch_seconds": None}
    >>> charter = charter_of("async-linucb", {}, **sizes, features=features)
    >>> charter.setting.dimension, charter.algorithm.smallest_upload
    (2, 10)
    """
    smallest_cohort, parameters = cohort_in(parameters)
    if features is not None:
        arms, dimension = _sizes(features, arms, dimension)
        parameters = _with_shared_part(algorithm, parameters, features)
    elif dimension is None:
        raise InvalidInput("dimension is missing: give the number of features of an arm, or features")
    parameters = _with_smallest_upload(algorithm, parameters, dimension)
    charter = Charter.named(
        algorithm, Setting(clients, arms, dimension, horizon), epoch_seconds=epoch_seconds,
        features=None if features is None else features.fingerprint, smallest_cohort=smallest_cohort, limits=limits,
        ending=ending, **parameters,
    )  # fmt: skip
    if features is not None:
        _require_fit(charter.algorithm, features)
    charter.require_deployable()
    return charter


def _sizes(features: Features, arms: int, dimension: int | None) -> tuple[int, int]:
    if dimension not in (None, features.dimension):
        raise InvalidInput(f"dimension={dimension}, but the features have {features.dimension}: leave dimension out")
    names = features.arm_names
    if names is not None and arms not in (1, len(names)):
        raise InvalidInput(f"arms={arms}, but the features name {len(names)} arms: leave arms out")
    return arms if names is None else len(names), features.dimension


def _with_shared_part(algorithm: str | Algorithm, parameters: dict[str, Any], features: Features) -> dict[str, Any]:
    """Tell an algorithm that divides features into shared and personal ones which are shared, unless it is told."""
    kind = algorithms[algorithm] if isinstance(algorithm, str) else None
    if kind is None or "global_dimension" not in {each.name for each in kind.describe()}:
        return parameters
    return {"global_dimension": features.global_dimension, **parameters}


def _with_smallest_upload(algorithm: str | Algorithm, parameters: dict[str, Any], dimension: int) -> dict[str, Any]:
    """Let uploads of what is deployed rest on enough observations, where nothing is said: 1 is to be asked for."""
    kind = algorithms[algorithm] if isinstance(algorithm, str) else None
    if kind is None or not has_smallest_upload(kind) or "smallest_upload" in parameters:
        return parameters
    return {"smallest_upload": usual_smallest_upload(dimension), **parameters}


def _require_fit(algorithm: Algorithm, features: Features) -> None:
    """Refuse features that do not make what the algorithm takes."""
    if algorithm.duels:
        raise InvalidInput(f"{algorithm.id} chooses two arms, which features are not for: hand in vectors")
    if algorithm.shares_context and not features.shares_context:
        raise InvalidInput(
            f"{algorithm.id} decides by one context that arms share, but these features have an [arm]: leave it out, "
            "and name the arms in [features] arms"
        )
    if features.shares_context and not algorithm.shares_context:
        raise InvalidInput(f"{algorithm.id} compares arms by their features, but there is no [arm]: declare some")

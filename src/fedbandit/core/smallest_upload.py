"""The smallest upload: sums leave a site only when they are over enough observations.

The sums x x^T and x y of one observation are the observation: x and y follow from them, but for a common sign. Sums of
more than d observations cannot be inverted so. That is no guarantee: see docs/privacy.md for what it does not stop.
"""

from __future__ import annotations

from typing import Any

from fedbandit.core.algorithm import Algorithm
from fedbandit.core.changes import Change
from fedbandit.core.parameters import parameter


def smallest_upload_parameter(change: Change = Change.AT_ONCE) -> Any:
    """Declare the parameter of an algorithm whose uploads are sums, or gradients, over a site's own observations.

    A site that has yet to hear of a change goes by what was before it, and the coordinator takes both.
    """
    return parameter(
        1, "observations that an upload rests on at least; a site that has fewer keeps them",
        symbol="n", general=True, at_least=1, change=change,
    )  # fmt: skip


def has_smallest_upload(kind: type[Algorithm]) -> bool:
    """Tell whether an algorithm has the parameter."""
    return any(each.name == "smallest_upload" for each in kind.describe())


def usual_smallest_upload(dimension: int) -> int:
    """Return the default `smallest_upload` of a deployed federation: more than linear algebra can invert.

    >>> usual_smallest_upload(dimension=3), usual_smallest_upload(dimension=8)
    (10, 16)
    """
    return max(10, 2 * dimension)

"""The families of settings that are compared: each is a curve, along which a threshold trades bytes for regret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fedbandit.core.algorithm import Algorithm, algorithms
from fedbandit.core.errors import InvalidInput, unknown

DOWNLOADS = (5.0, 20.0, 100.0, 1000.0)
ALONE = "local-linucb"
WIDTHS = 3.0  # standard deviations of the noise, for async-linucb-am: its own width, noise + 2, explores too much


@dataclass(frozen=True)
class Family:
    """A curve of settings: the larger the threshold, the fewer bytes."""

    name: str  # of the algorithm
    setting: str  # what sets it apart from others of the algorithm, for people
    at: Callable[[float], Algorithm]


def families(
    noise: float, smallest_upload: int, shared: int | None = None, only: Sequence[str] = ()
) -> tuple[Family, ...]:
    """Return the families for rewards of so much noise, whose uploads rest on so many observations at least.

    `shared` counts the coordinates that mean the same at all sites, where the others are personal. `only` names
    algorithms, to which the families are restricted.
    """
    common = {"noise": noise, "smallest_upload": smallest_upload}

    def family(name: str, setting: str, threshold: str, offset: float = 1.0, **fixed: object) -> Family:
        def at(value: float) -> Algorithm:
            return algorithms[name].from_values({**common, **fixed, threshold: round(offset + value, 9)})

        return Family(name, setting, at)

    found = [
        family("lean-linucb", "delivery turn", "upload_threshold", delivery="turn"),
        family("lean-linucb", "delivery upload", "upload_threshold", delivery="upload"),
        family("sync-linucb", "", "sync_threshold", offset=0.0),
        Family("async-linucb", "equal thresholds", _equal(common)),
        *(
            family("async-linucb", f"download {each:g}", "upload_threshold", download_threshold=each)
            for each in DOWNLOADS
        ),
    ]
    if shared is not None:
        found.append(
            family(
                "async-linucb-am", "download 20", "upload_threshold", download_threshold=20.0, alpha=WIDTHS * noise,
                global_dimension=shared,
            )
        )  # fmt: skip
    return _restricted(found, only, shared is not None)


def _equal(common: dict[str, float]) -> Callable[[float], Algorithm]:
    def at(value: float) -> Algorithm:
        both = dict.fromkeys(("upload_threshold", "download_threshold"), round(1.0 + value, 9))
        return algorithms["async-linucb"].from_values({**common, **both})

    return at


def _restricted(found: list[Family], only: Sequence[str], has_personal: bool) -> tuple[Family, ...]:
    known = {each.name for each in found}
    for name in only:
        if name in known:
            continue
        if name not in algorithms:
            raise unknown("algorithm", name, known)
        if name == "async-linucb-am" and not has_personal:
            raise InvalidInput(
                "algorithms names async-linucb-am, but no feature is personal: name some in features.personal"
            )
        raise InvalidInput(f"algorithms names {name}, which {_why_not(name)}: choose among {', '.join(sorted(known))}")
    return tuple(each for each in found if not only or each.name in only)


def _why_not(name: str) -> str:
    algorithm = algorithms[name]
    if algorithm.acts_in_rounds:
        return "acts in rounds of one turn of every site, and a log has turns as they came"
    if algorithm.duels:
        return "learns from duels, and a log has rewards"
    if algorithm.shares_context:
        return "needs one context that all arms share"
    if name in ("local-linucb", "pooled-linucb"):
        return "is compared with always"
    return "has no threshold that trades bytes for regret in the linear model of the log"

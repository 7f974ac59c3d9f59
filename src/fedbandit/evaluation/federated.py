"""Evaluation at many sites: each tells a few sums over its own rows, and these add up to the estimates.

A site with few rows tells nothing. One that has told its sums tells them again unless many rows were added, since the
difference of two answers is that of the rows between them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from fedbandit.core.errors import InvalidInput
from fedbandit.evaluation.estimates import estimates_of
from fedbandit.evaluation.evaluate import Evaluation, evaluation_of, terms_of_log
from fedbandit.evaluation.sums import Sums, sums_of
from fedbandit.features.features import Features
from fedbandit.logs.log import Log
from fedbandit.site.policy import Policy

FEWEST_ROWS = 20  # of a site, and between two answers of one
KIND = "fedbandit sums of an evaluation"


@dataclass(frozen=True)
class SiteSums:
    """What a site tells: whose rows, which policy, and the sums."""

    sites: tuple[str, ...]
    policy: str  # a digest of it
    sums: Sums

    @property
    def text(self) -> str:
        """Return it as JSON."""
        return json.dumps({"kind": KIND, "sites": self.sites, "policy": self.policy, "sums": asdict(self.sums)})

    @classmethod
    def read(cls, path: str | Path) -> SiteSums:
        """Read what a site has told."""
        try:
            said = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InvalidInput(f"cannot read {path} ({error.strerror}): give a file of evaluate --sums") from None
        except ValueError:
            said = None
        wanted = {each.name: each.type for each in fields(Sums)}
        is_whole = isinstance(said, dict) and said.get("kind") == KIND and isinstance(said.get("policy"), str)
        if not is_whole or set(said.get("sums", ())) != set(wanted) or not _are_numbers(said["sums"]):
            raise InvalidInput(f"{path} has no sums of an evaluation: give a file of evaluate --sums")
        if said["sums"]["rows"] < FEWEST_ROWS:
            raise InvalidInput(f"{path} has sums over {said['sums']['rows']} rows, at least {FEWEST_ROWS} are told")
        return cls(tuple(map(str, said["sites"])), said["policy"], Sums(**said["sums"]))


def _are_numbers(values: dict[str, Any]) -> bool:
    return all(isinstance(each, int | float) and np.isfinite(each) for each in values.values())


def site_sums(
    log: Log,
    policy: Policy,
    *,
    features: Features | None = None,
    include_earlier: bool = False,
    last: SiteSums | None = None,
) -> SiteSums:
    """Return what a site tells of its log: its last answer again, unless there are 20 rows more since.

    The model is fitted on the rows of this log alone.
    """
    digest = sha256(policy.to_bytes()).hexdigest()[:16]
    if last is not None and last.policy != digest:
        last = None  # of another policy
    log, terms, _ = terms_of_log(log, policy, features, include_earlier)
    rows = len(terms.reward)
    if last is not None and rows < last.sums.rows + FEWEST_ROWS:
        return last
    if rows < FEWEST_ROWS:
        raise InvalidInput(
            f"the log has {rows} rows for this policy, and sums over fewer than {FEWEST_ROWS} would tell too much of "
            "each: tell them when there are more"
        )
    present = tuple(log.sites[number] for number in np.unique(log.site))
    return SiteSums(present, digest, sums_of(terms))


def merged(told: Sequence[SiteSums], *, anyway: bool = False) -> Evaluation:
    """Return the evaluation over the rows of all sites, from what they have told."""
    names = [", ".join(each.sites) for each in told]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"the sums of {name} are there twice: give those of each site once")
    if len({each.policy for each in told}) > 1:
        raise InvalidInput("the sums are of different policies: let all sites evaluate one")
    by_site = {name: estimates_of(each.sums) for name, each in zip(names, told, strict=True)}
    return evaluation_of([each.sums for each in told], by_site, anyway)

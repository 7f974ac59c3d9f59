"""Defaults are promises: a run, a charter and a paper's figure rest on them, so none changes unnoticed.

Who adds something, or means to change a default, writes the files anew, `cd tests && python -m contract.test_defaults`,
and says in the changelog what for.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

import fedbandit as fb

KEPT = Path(__file__).parent / "defaults"
REGISTRIES = {"algorithms": fb.algorithms, "environments": fb.environments}


def defaults(kind, name):
    """What a user gets who sets nothing; what can only be given by the user is left out."""
    fields = dataclasses.fields(REGISTRIES[kind][name])
    return {each.name: each.default for each in fields if each.init and each.default is not dataclasses.MISSING}


def built_in(kind):
    """All but what tests and pages have registered beside it."""
    return sorted(name for name in REGISTRIES[kind] if REGISTRIES[kind][name].__module__.startswith("fedbandit."))


@pytest.mark.parametrize("kind", REGISTRIES)
def test_all_that_is_registered_has_its_defaults_written_down(kind):
    assert built_in(kind) == sorted(each.stem for each in (KEPT / kind).iterdir())


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in REGISTRIES for name in built_in(kind)])
def test_defaults_are_those_that_were_promised(kind, name):
    assert json.loads(json.dumps(defaults(kind, name))) == json.loads((KEPT / kind / f"{name}.json").read_text())


if __name__ == "__main__":
    for kind in REGISTRIES:
        for name in built_in(kind):
            written = json.dumps(defaults(kind, name), indent=1, sort_keys=True)
            (KEPT / kind / f"{name}.json").write_text(written + "\n")

"""What is mutated, how often, and where the tests are that may know it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "fedbandit"
NODES = (
    "tests/protocol", "tests/wire", "tests/durable", "tests/simulation", "tests/golden", "tests/site",
    "tests/contract/test_deployment.py", "tests/contract/test_every_message.py", "tests/contract/test_states.py",
    "tests/service", "tests/transport",
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A part of the source, with how many mistakes of a sample of 200 are made in it."""

    name: str
    patterns: tuple[str, ...]
    share: int
    tests: tuple[str, ...]  # asked where none is seen to reach a line; {family} stands for the folder below
    is_compiled: bool = False

    def files(self) -> Iterator[Path]:
        for pattern in self.patterns:
            yield from sorted(each for each in SOURCE.glob(pattern) if each.name != "__init__.py")


TARGETS = (
    Target("protocol", ("protocol/*.py",), 22, NODES),
    Target("durable", ("durable/*.py", "durable/journals/*.py"), 52, NODES),
    Target("wire", ("wire/*.py",), 24, NODES),
    Target(
        "transport",
        ("transport/*.py", "transport/nats/*.py"),
        24,
        ("tests/transport", "tests/site", "tests/service"),
    ),
    Target(
        "service",
        ("service/coordinator/*.py", "service/status/*.py", "service/keys/*.py"),
        30,
        ("tests/service", "tests/transport", "tests/cli"),
    ),
    Target(
        "servers",
        (
            "algorithms/attendance.py", "algorithms/linear/clustered_linucb.py", "algorithms/linear/sync_linucb.py",
            "algorithms/linear/shared/*_server.py", "algorithms/linear/shared/exchange.py",
            "algorithms/linear/shared/encoding.py",
            "algorithms/glm/shared/server.py", "algorithms/glm/shared/updates.py", "algorithms/glm/shared/solvers.py",
            "algorithms/federated_minimum.py", "algorithms/dueling/fldb_*.py", "algorithms/dueling/shared/search.py",
            "algorithms/lasso/fedego_lasso.py", "algorithms/neural/shared/server.py",
        ),
        24,
        ("tests/algorithms/{family}", "tests/simulation", "tests/contract"),
    ),
    Target(
        "kernels",
        tuple(f"kernels/{family}/*.py" for family in ("linear", "glm", "dueling", "lasso", "shared")),
        24,
        ("tests/kernels/{family}", "tests/algorithms/{family}", "tests/contract"),
        is_compiled=True,
    ),
)  # fmt: skip


def near(path: Path) -> tuple[str, str, str]:
    """Return where the tests of a file are: its own test, the examples in it, and its folder's tests."""
    inside = path.relative_to(SOURCE)
    return f"tests/{inside.parent}/test_{inside.name}", str(path.relative_to(ROOT)), f"tests/{inside.parent}"


def folders(target: Target, path: Path) -> tuple[str, ...]:
    """Return where there may be tests that know a file, though none is seen to reach the line."""
    inside = path.relative_to(SOURCE)
    family = inside.parts[1] if len(inside.parts) > 2 else ""
    return (*near(path), *(each.format(family=family) for each in target.tests))

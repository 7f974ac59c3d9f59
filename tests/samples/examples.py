"""How many examples Hypothesis makes up: always the same ones, of which `make test` has the first few."""

from __future__ import annotations

_few = False


def make_few() -> None:
    """From now on let `examples` give few, as `make test` does; `make test-all` has them all."""
    global _few
    _few = True


def examples(count: int) -> int:
    """So many for `make test-all`, and a fifth of them for `make test`."""
    return max(count // 5, 1) if _few else count

"""Both sides of an algorithm with secure aggregation around them, and the sentence where that cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import fedbandit.secure.messages  # noqa: F401  so that whoever reads frames knows them
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Federation
from fedbandit.core.messages import Download
from fedbandit.protocol.schema import Schema

CERTIFICATE_BYTES = 640  # of a site, with the longest names: less than 600
SMALLEST_COHORT = 3  # with 2 each reads the other's sums from the download
_PARTS = {  # where it is told how the sums of an algorithm are added up: the module, and the class in it
    "sync-linucb": ("sync_linucb", "SyncParts"),
    "fedglb-ucb": ("fedglb_ucb", "GlmParts"),
    "fedglb-ucb-1": ("fedglb_ucb", "GlmParts"),
    "fedglb-ucb-2": ("fedglb_ucb", "GlmParts"),
    "fedglb-ucb-3": ("fedglb_ucb", "GlmParts"),
    "fldb-gd": ("fldb_gd", "GradientParts"),
    "fldb-ogd": ("fldb_ogd", "OnlineParts"),
    "fn-ucb-less": ("fn_ucb", "NeuralParts"),
    "fedego-lasso": ("fedego_lasso", "LassoParts"),
}
AGGREGABLE = tuple(_PARTS)


def cohort_in(given: Mapping[str, Any]) -> tuple[int | None, dict[str, Any]]:
    """Return over how many sites sums are at least that are aggregated securely, else None; and what else is given.

    >>> cohort_in({"secure_aggregation": True, "ridge": 2.0})
    (3, {'ridge': 2.0})
    """
    rest = dict(given)
    is_secure, cohort = rest.pop("secure_aggregation", False), rest.pop("smallest_cohort", None)
    if not isinstance(is_secure, bool):
        raise InvalidInput(f"secure_aggregation must be true or false, not {is_secure!r}: give one of these")
    if not is_secure:
        if cohort is not None:
            raise InvalidInput(
                f"smallest_cohort={cohort!r} does nothing without secure_aggregation: write that too, or leave it out"
            )
        return None, rest
    return SMALLEST_COHORT if cohort is None else cohort, rest


def require_aggregable(algorithm: Algorithm, smallest_cohort: int, clients: int) -> None:
    """Refuse secure aggregation of what is not sent in rounds, or where sums over several would tell of one.

    >>> from fedbandit.core.algorithm import algorithms
    >>> require_aggregable(algorithms["async-linucb"](), 3, clients=5)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: secure_aggregation is there for sync-linucb, fedglb-ucb, fedglb-ucb-1, \
fedglb-ucb-2, fedglb-ucb-3, fldb-gd, fldb-ogd, fn-ucb-less and fedego-lasso, not for async-linucb: choose one of \
these, or leave it out
    """
    if algorithm.id not in AGGREGABLE:
        raise InvalidInput(
            f"secure_aggregation is there for {', '.join(AGGREGABLE[:-1])} and {AGGREGABLE[-1]}, not for "
            f"{algorithm.id}: choose one of these, or leave it out"
        )
    if algorithm.discount < 1.0:
        raise InvalidInput(
            f"discount={algorithm.discount:g} ages what sites have sent, which secure_aggregation hides: leave one out"
        )
    is_whole = isinstance(smallest_cohort, int) and not isinstance(smallest_cohort, bool)
    if not is_whole or smallest_cohort < SMALLEST_COHORT:
        raise InvalidInput(
            f"smallest_cohort must be a whole number of at least {SMALLEST_COHORT}, not {smallest_cohort!r}: with 2, "
            "each site reads the other's sums from the download"
        )
    if smallest_cohort > clients:
        raise InvalidInput(
            f"smallest_cohort={smallest_cohort} with clients={clients}: no sum would ever be made; give no more than "
            "there are sites"
        )


def secured(sides: Federation, algorithm: Algorithm, setting: Setting, number: int, smallest_cohort: int) -> Federation:
    """Return both sides as they run where sums are aggregated securely; the client side is that of one site."""
    try:
        import cryptography  # noqa: F401  what only deployments need
    except ImportError:
        raise InvalidInput(
            "secure_aggregation needs the library cryptography: install fedbandit with its extra deploy"
        ) from None
    from fedbandit.secure.clients import SecureClients
    from fedbandit.secure.member import Participation
    from fedbandit.secure.server import SecureServer

    module, name = _PARTS[algorithm.id]
    parts = getattr(import_module(f"fedbandit.secure.{module}"), name)(algorithm, setting)
    answers = Schema.of(sides.clients, Download, setting)
    sizes = {"N": setting.clients, "words": parts.words, "certificate": CERTIFICATE_BYTES, "body": answers.most_bytes}
    part = Participation(number, setting.clients, smallest_cohort)
    clients = SecureClients(sides.clients, parts, part, sizes, answers.open)
    server = SecureServer(sides.server, parts, smallest_cohort, sizes)
    return Federation(clients, server)

"""`python -m simulation.table`, in the folder `tests`: how many schedules each planted bug takes, and what shows it."""

from __future__ import annotations

from simulation.checkers import amiss
from simulation.federations import faulty_run
from simulation.planted import PLANTED, Planted

MOST_SEEDS = 500


def first_finding(planted: Planted) -> tuple[int, str] | None:
    """How many seeds it takes, and what is found amiss; a node that fails or never comes to rest is caught as well."""
    for seed in range(MOST_SEEDS):
        try:
            findings = amiss(faulty_run(seed, planted.federation, **planted.nodes))
        except Exception as error:  # noqa: BLE001
            findings = [str(error) or type(error).__name__]
        if findings:
            return seed + 1, findings[0]
    return None


if __name__ == "__main__":
    for each in PLANTED:
        print(each.node.__name__, *(first_finding(each) or ("not caught",)), sep="\t")

"""Names and lives of decisions: none is given twice, whatever the clock says."""

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.site.decisions import RANDOM_BITS, Decisions, later

NOW = 1_800_000_000
YEAR = 365 * 86_400


@pytest.mark.parametrize("ahead", [0, 1, 3600, YEAR])
def test_with_a_clock_that_was_set_back_a_life_is_just_later_than_the_last(ahead):
    fresh, last = (NOW << RANDOM_BITS) + 12345, (NOW + ahead << RANDOM_BITS) + 99999
    life = later(fresh, last)
    assert last < life <= last + (1 << RANDOM_BITS), "a step of a second, and no more: numbers must not run out"
    assert life % (1 << RANDOM_BITS) == 12345, "its random bits tell it from other lives after the same one"


def test_only_names_that_were_given_are_known():
    decisions = Decisions()
    decisions.open(7)
    decisions.open(9)
    for name in ("8-1", "7-1", "9-1", "9-0", "9", "x", ""):
        with pytest.raises(InvalidInput, match="was made at this site"):
            decisions.awaiting(name)

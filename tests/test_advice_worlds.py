"""The benchmark of advice: what counts as wrong, and what as said to be unsure."""

from __future__ import annotations

import pytest
from benchmarks.advice_worlds import called_sure, show, unsure_and_right

FOUND = {
    "kind": "skewed", "regret": 11.0, "best": 10.0, "alone": 20.0, "band": [9.0, 12.0], "bytes": 110.0,
    "predicted_bytes": 100.0, "bytes_band": [90.0, 110.0], "allowed": 120.0, "doubts": {},
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "sure", "needless"),
    [
        ({}, [], []),
        ({"regret": 11.1}, ["setting"], []),
        ({"bytes": 111.0}, ["bytes"], []),
        ({"bytes": 89.0}, ["bytes"], []),
        ({"regret": 11.1, "doubts": {"setting": "why"}}, [], []),
        ({"regret": 11.1, "doubts": {"bytes": "why"}}, ["setting"], ["bytes"]),  # unsure of the wrong thing
        ({"bytes": 111.0, "doubts": {"setting": "why", "bytes": "why"}}, [], ["setting"]),
    ],
)
def test_what_is_wrong_must_have_been_unsure_of_just_that(changed, sure, needless):
    found = FOUND | changed
    assert called_sure(found) == sure
    assert unsure_and_right(found) == needless


def test_the_table_counts_worlds_by_kind_and_names_what_is_wrong(capsys):
    show([FOUND, FOUND | {"kind": "logistic", "regret": 12.0, "doubts": {"bytes": "why"}}])
    head, skewed, logistic, everything, wrong = capsys.readouterr().out.strip().split("\n")
    assert len({line.count("|") for line in (head, skewed, logistic, everything)}) == 1
    assert skewed == "| skewed | 1 | 1 | 1.10 | 0 | 0 | 1 | 0 | 0 | 1 | 1 | 1 | 1.8 | 1 |"
    assert logistic == "| logistic | 1 | 0 | 1.20 | 1 | 0 | 1 | 0 | 1 | 1 | 1 | 1 | 1.7 | 0 |"
    assert everything.startswith("| all | 2 | 1 | 1.20 | 1 | 0 | 2 | 0 | 1 | 2 | 2 | 2 |")
    assert wrong == ("world 1, logistic: regret 1.200 of the best, bytes 1.100 of those predicted, unsure of bytes")

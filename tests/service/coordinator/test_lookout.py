"""What calls for attention is logged once when it is raised and once when it is over."""

from __future__ import annotations

import logging

import pytest

from fedbandit.service.coordinator.lookout import Lookout
from fedbandit.service.status.watch import Watch


@pytest.fixture
def watch():
    return Watch()


@pytest.fixture
def lookout(watch, caplog):
    caplog.set_level(logging.INFO, "fedbandit.coordinator")
    return Lookout(lambda site: "clinics, north" if site == 4 else "clinics", watch)


def said(caplog):
    return [(record.levelname, record.getMessage()) for record in caplog.records]


def test_a_concern_is_logged_once_when_it_is_raised_and_once_when_it_is_over(watch, lookout, caplog):
    for second in range(5):
        watch.concerns.note("another-charter", "site 4 has another dimension", float(second), site=4)
        lookout.look({}, float(second), float(second))
    watch.concerns.clear("another-charter", 4)
    lookout.look({}, 9.0, 9.0)
    lookout.look({}, 10.0, 10.0)
    assert said(caplog) == [
        ("WARNING", "clinics, north: site 4 has another dimension"),
        ("INFO", "clinics, north: over: site 4 has another dimension"),
    ]


def test_a_grave_one_is_an_error(watch, lookout, caplog):
    watch.concerns.note("journal-damaged", "record 7 is damaged", 0.0)
    lookout.look({}, 1.0, 1.0)
    assert said(caplog) == [("ERROR", "clinics: record 7 is damaged")]


def test_one_that_comes_and_goes_all_the_time_does_not_fill_the_log(watch, lookout, caplog):
    for second in range(100):
        watch.concerns.note("backlog", f"site 4 has {second} uploads", float(second), site=4)
        lookout.look({}, float(second), float(second))
        watch.concerns.clear("backlog", 4)
        lookout.look({}, float(second), float(second))
    assert len(said(caplog)) == 4
    assert said(caplog)[2] == ("WARNING", "clinics, north: site 4 has 60 uploads (and 59 more like it)")


def test_what_the_numbers_say_is_looked_at(lookout, caplog):
    lookout.look({0: 5000, 1: 10, 2: 10}, 1.0, 1.0)
    assert "site 0 made 100% of all 5020 observations" in said(caplog)[0][1]

"""Two real coordinators, one of which stands by: the active one is killed or paused while sites learn.

Features and rewards are multiples of 1/16, so that every sum is exact and is compared with ==.
"""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.error

import pytest

from samples.deployed import Coordinator
from samples.postgres import emptied
from samples.waiting import until
from service.coordinator.test_killed import TURNS, Machines, check

ASYNC = 1  # the algorithm that uploads most often
WAITS = "standby: another coordinator has the journals"


class Pair(Machines):
    """A federation with two coordinators that have one journal between them."""

    def __init__(self, folder, journal):
        super().__init__(folder, seed=ASYNC)
        self.journal = journal
        self.coordinators = []
        for name in ("first", "second"):
            (folder / name).mkdir()
            federations = {"tagged": {**self.table, "keep_log": True}}
            self.coordinators.append(self.coordinator_in(folder / name, federations))
        self.coordinator = self.coordinators[0]  # the active one

    def coordinator_in(self, folder, federations):
        return Coordinator(folder, self.settings.url, federations, journal=self.journal, standby=True)

    def start(self):
        super().start()
        self.coordinator.wait()
        self.coordinators[1].start()
        self.until_it_waits(self.coordinators[1])

    def until_it_waits(self, coordinator, times=1):
        until(lambda: coordinator.said(WAITS) >= times, "a coordinator that stands by")
        assert health(coordinator) == {
            "alive": True, "ready": True, "role": "standby", "problem": "", "federations": [],
        }  # fmt: skip

    def until_taken_over(self, coordinator, times=1):
        coordinator.wait(times)
        self.coordinator = coordinator
        until(lambda: health(coordinator)["role"] == "active", "its page")

    def end(self):
        for each in self.coordinators:
            if each.process is not None and each.process.poll() is None:
                each.process.send_signal(signal.SIGCONT)
            each.end()
        super().end()


def health(coordinator):
    """What it says of itself, whether it is well or not: a broker under load may answer late."""
    try:
        return json.loads(coordinator.asked("health"))
    except urllib.error.HTTPError as error:
        return json.load(error)


def metric(coordinator, name):
    lines = coordinator.asked("metrics").splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


@pytest.fixture
def pair(request, tmp_path):
    journal = str(tmp_path / "journals")
    if request.param == "database":
        journal = emptied(request.getfixturevalue("postgres_url"))
    made = Pair(tmp_path, journal)
    try:
        made.start()
        yield made
    finally:
        made.end()


def kept_in(place, later=None):
    """Say where the journals are kept: in every run of the tests, and in the long ones."""
    places = [place] if later is None else [place, pytest.param(later, marks=pytest.mark.slow)]
    return pytest.mark.parametrize("pair", places, indirect=True)


def in_the_middle(pair, part):
    until(lambda: pair.done() >= TURNS * part, "some turns")


def finish(pair):
    pair.come_to_rest()
    others = [each for each in pair.coordinators if each is not pair.coordinator and each.process.poll() is None]
    assert [each.stop() for each in others] == [0] * len(others)
    assert pair.stop() == [0] * len(pair.sites) + [0]
    check(pair)


@kept_in("files", later="database")
@pytest.mark.slow
def test_a_coordinator_that_is_killed_is_replaced_and_every_reward_counts_once(pair):
    first, second = pair.coordinators
    assert (metric(first, "fedbandit_coordinator_active"), metric(second, "fedbandit_coordinator_active")) == (1, 0)
    in_the_middle(pair, 1 / 4)
    first.kill()
    pair.until_taken_over(second)
    first.start()
    pair.until_it_waits(first)
    in_the_middle(pair, 1 / 2)
    second.kill()
    pair.until_taken_over(first, times=2)
    finish(pair)


@pytest.mark.slow
@kept_in("files", later="database")
def test_a_coordinator_that_is_paused_is_replaced_and_can_do_nothing_when_it_goes_on(pair):
    first, second = pair.coordinators
    in_the_middle(pair, 1 / 4)
    first.process.send_signal(signal.SIGSTOP)
    pair.until_taken_over(second)
    in_the_middle(pair, 1 / 2)
    first.process.send_signal(signal.SIGCONT)
    if pair.journal.startswith("postgresql"):
        pair.until_it_waits(first)
        assert first.said("the journal 'tagged' cannot be used"), first.log.read_text()
    else:
        assert first.process.wait(timeout=60) == -signal.SIGKILL
    finish(pair)


@pytest.mark.slow
@kept_in("files")
def test_one_that_does_not_stand_by_is_refused_and_one_that_stops_hands_over(pair):
    first, second = pair.coordinators
    refused = subprocess.run(
        [*first.command[:-1], str(without_standby(pair))], check=False, capture_output=True, text=True
    )
    assert refused.returncode == 2
    assert "another process has it open: end that one" in refused.stderr
    in_the_middle(pair, 1 / 4)
    assert first.stop() == 0
    pair.until_taken_over(second)
    finish(pair)


def without_standby(pair):
    text = pair.coordinators[1].file.read_text().replace("standby = true", "")
    path = pair.folder / "plain.toml"
    path.write_text(text.replace(str(pair.coordinators[1].port), "0"))
    return path

"""A running coordinator tells what calls for attention: on its page, in its metrics and in its log."""

from __future__ import annotations

import asyncio
import json
import urllib.error
from contextlib import contextmanager

import nats
import pytest

from fedbandit.service.keys.files import Keys
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings, Security
from fedbandit.transport.nats.subjects import Subjects
from fedbandit.wire.frame import Frame, Kind
from samples.deployed import Coordinator, open_sites
from samples.waiting import PATIENCE, until

TABLE = {
    "algorithm": "async-linucb",
    "clients": 3,
    "dimension": 2,
    "set": {"upload_threshold": 1, "smallest_upload": 1},
}


def told(coordinator, name="clinics"):
    return next(each for each in json.loads(coordinator.asked("status.json"))["federations"] if each["name"] == name)


@contextmanager
def serving(folder, *federations):
    """Start a broker and a coordinator that do not outlive the test."""
    with Broker(BrokerSettings(folder / "broker", port=free_port())) as broker:
        coordinator = Coordinator(folder, broker.url, dict.fromkeys(federations, TABLE)).start()
        try:
            yield broker, coordinator.wait()
        finally:
            coordinator.end()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A coordinator for all tests that leave its health green: the sites of `shops` do nothing wrong."""
    with serving(tmp_path_factory.mktemp("served"), "clinics", "shops") as both:
        yield both


def test_a_refused_upload_puts_its_site_in_trouble_and_leaves_health_green(served):
    broker, coordinator = served

    async def send():
        connection = await nats.connect(broker.url)
        bad = Frame(Kind.UPLOAD, 1, 7, 1, b"no message", is_old=True).to_bytes()  # one that need not ask first
        await connection.jetstream().publish(Subjects("clinics").up(1), bad)
        await connection.close()

    asyncio.run(send())
    until(lambda: told(coordinator)["concerns"], "a concern")
    (concern,) = told(coordinator)["concerns"]
    assert (concern["kind"], concern["site"], concern["grave"]) == ("uploads-refused", 1, False)
    assert told(coordinator)["sites"][0]["state"] == "trouble"
    assert json.loads(coordinator.asked("health"))["ready"]
    assert 'fedbandit_concerns{federation="clinics",kind="uploads-refused"} 1.0' in coordinator.asked("metrics")
    until(lambda: coordinator.said("an upload of site 1 was refused") == 1, "the log")


def test_the_share_of_a_site_in_the_observations_is_shown(served):
    broker, coordinator = served
    site, *_ = open_sites(TABLE)
    with site:
        site.connect(f"{broker.url}/shops", every=0.3)
        for _ in range(20):
            site.learn(site.choose([[1.0, 0.0], [0.0, 1.0]]), 1.0)
        until(lambda: told(coordinator, "shops")["sites"][0]["observations"] == 20, "all observations")
        until(lambda: told(coordinator, "shops")["sites"][0]["backlog"] == 0, "a question with nothing unsent")
    sites = sorted(told(coordinator, "shops")["sites"], key=lambda each: each["site"])
    assert [each["share"] for each in sites] == [1.0, 0.0, 0.0]


def test_a_coordinator_of_others_sites_without_limits_says_so_when_it_starts_and_on_its_page(tmp_path):
    keys = Keys(tmp_path / "keys")
    keys.new("broker")
    keys.new("coordinator")
    security = Security(keys.path("broker"), keys.authority, {"clinics": 3})
    with Broker(BrokerSettings(tmp_path / "broker", port=free_port(), security=security)) as broker:
        coordinator = Coordinator(
            tmp_path, broker.url, {"clinics": TABLE}, credentials=keys.path("coordinator")
        ).start()
        try:
            coordinator.wait()
            line = (
                "write limits = { context = 1.0, reward = 1.0, observations_per_second = 100 } in [federations.clinics]"
            )
            assert coordinator.said(line) == 1
            (concern,) = told(coordinator)["concerns"]
            assert (concern["kind"], concern["site"], line in concern["text"]) == ("limits-missing", None, True)
            assert json.loads(coordinator.asked("health"))["ready"]
        finally:
            coordinator.end()


def test_a_second_coordinator_with_a_journal_of_its_own_ends_with_a_sentence(served, tmp_path):
    broker, first = served
    second = Coordinator(tmp_path, broker.url, {"clinics": TABLE}).start()
    try:
        assert second.process.wait(PATIENCE) == 2
    finally:
        second.end()
    assert second.said("another coordinator serves the federation 'clinics' at this broker: end it first") == 1
    assert json.loads(first.asked("health"))["ready"]


@pytest.mark.slow
def test_a_journal_that_has_gone_turns_health_red(tmp_path):
    with serving(tmp_path, "clinics") as (broker, coordinator):
        (tmp_path / "journals" / "clinics.db").rename(tmp_path / "elsewhere.db")
        sites = open_sites(TABLE, report=True)
        sites[0].connect(broker.url + "/clinics")
        sites[0].learn(sites[0].choose([[1.0, 0.0], [0.0, 1.0]]), 1.0)
        until(lambda: told(coordinator)["concerns"], "a concern")
        for site in sites:
            site.close()
        (concern,) = told(coordinator)["concerns"]
        assert (concern["kind"], concern["grave"]) == ("journal-damaged", True)
        assert "clinics.db cannot be used: its file has gone" in concern["text"]
        with pytest.raises(urllib.error.HTTPError, match="503"):
            coordinator.asked("health")

"""What the coordinator's HTTP address answers."""

from __future__ import annotations

import asyncio
import json
import socket

import aiohttp
import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.outcome import Outcome, Verdict
from fedbandit.service.status.history import SPANS
from fedbandit.service.status.severity import GRAVE, LIGHT
from fedbandit.service.status.telemetry import Telemetry
from fedbandit.service.status.web import MOST_SITES, Pages, serving
from samples.told import busy, upload

NOW = 1000.0


def get(path, federations, **more):
    """Return status, headers and body of one page."""

    async def ask():
        pages = Pages(federations, clock=lambda: NOW, **more)
        async with (
            serving(pages, "127.0.0.1", 0) as address,
            aiohttp.ClientSession() as session,
            session.get(address.rstrip("/") + path) as answer,
        ):
            return answer.status, answer.headers, await answer.text()

    return asyncio.run(ask())


def metrics(federations):
    """Return the values of all metrics by name and labels."""
    _, _, text = get("/metrics", federations)
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, *sorted(sample.labels.values())): sample.value for sample in samples}


def test_a_coordinator_that_works_is_healthy():
    status, _, body = get("/health", [busy()])
    assert status == 200
    assert json.loads(body) == {
        "alive": True, "ready": True, "role": "active", "problem": "", "federations": ["clinics"],
    }  # fmt: skip


def test_one_that_stands_by_is_healthy_and_says_so():
    status, _, body = get("/health", [], is_active=lambda: False)
    assert status == 200
    assert json.loads(body) == {"alive": True, "ready": True, "role": "standby", "problem": "", "federations": []}
    assert json.loads(get("/status.json", [], is_active=lambda: False)[2])["role"] == "standby"
    assert "fedbandit_coordinator_active 0.0" in get("/metrics", [], is_active=lambda: False)[2]
    assert metrics([busy()])["fedbandit_coordinator_active",] == 1.0


def test_one_that_could_not_take_over_if_it_had_to_is_not_ready():
    status, _, body = get("/health", [], is_active=lambda: False, readiness=lambda: "the database cannot be asked")
    assert status == 503
    assert json.loads(body)["problem"] == "the database cannot be asked"


def test_one_that_does_not_is_alive_but_not_ready_and_says_why():
    status, _, body = get("/health", [busy()], readiness=lambda: "the broker is away")
    assert status == 503
    assert json.loads(body)["problem"] == "the broker is away"
    assert get("/health/live", [busy()], readiness=lambda: "the broker is away")[0] == 200


def troubled(kind, site=None):
    told = busy()
    told.watch.concerns.note(kind, f"a sentence about {kind}", NOW - 60, site)
    return told


@pytest.mark.parametrize("kind", GRAVE)
def test_a_coordinator_that_cannot_do_its_work_is_not_ready_and_says_why(kind):
    federations = [busy("shops"), troubled(kind)]
    status, _, body = get("/health", federations)
    assert status == 503
    assert json.loads(body)["problem"] == f"clinics: a sentence about {kind}"
    assert get("/health/live", federations)[0] == 200
    assert metrics(federations)["fedbandit_ready",] == 0.0
    told = json.loads(get("/status.json", federations)[2])
    assert told["problem"] == f"clinics: a sentence about {kind}"
    assert told["federations"][1]["concerns"][0]["grave"]


@pytest.mark.parametrize("kind", [*GRAVE, *LIGHT, "something new"])
def test_no_site_can_take_the_coordinator_out_of_service(kind):
    federations = [troubled(kind, site=1)]
    assert get("/health", federations)[0] == 200
    assert metrics(federations)["fedbandit_ready",] == 1.0
    assert metrics(federations)["fedbandit_sites", "clinics", "trouble"] == 1


@pytest.mark.parametrize("kind", [*LIGHT, "something new"])
def test_what_only_calls_for_attention_does_not_take_the_coordinator_out_of_service(kind):
    assert get("/health", [troubled(kind)])[0] == 200


def test_concerns_are_counted_by_kind_and_kinds_that_are_not_known_together():
    told = troubled("backlog", site=1)
    for number in range(5):
        told.watch.concerns.note(f"made-up-{number}", "nobody knows it", NOW, 2)
    found = metrics([told])
    assert found["fedbandit_concerns", "backlog", "clinics"] == 1
    assert found["fedbandit_concerns", "clinics", "other"] == 5
    assert found["fedbandit_concerns", "clinics", "journal-damaged"] == 0
    assert len([name for name in found if name[0] == "fedbandit_concerns"]) == len(GRAVE + LIGHT) + 1


def test_metrics_tell_backlog_and_observations():
    told = busy()
    told.watch.waiting(1, 17, NOW)
    told.watch.look({1: 30, 2: 10}, NOW)
    found = metrics([told])
    assert found["fedbandit_site_backlog", "1", "clinics"] == 17
    assert found["fedbandit_site_observations", "1", "clinics"] == 30
    assert found["fedbandit_site_backlog", "2", "clinics"] == 0


def test_metrics_tell_peers_where_not_all_share_with_all():
    told = busy()
    assert "fedbandit_site_peers" not in {name[0] for name in metrics([told])}
    told.peers = np.array([2, 0, 1])
    assert metrics([told])["fedbandit_site_peers", "1", "clinics"] == 0


def test_metrics_tell_messages_bytes_lag_versions_and_the_journal():
    told = busy(names=["north"])
    told.journal_bytes = 4096
    found = metrics([told])
    assert found["fedbandit_messages_total", "clinics", "up"] == 180
    assert found["fedbandit_messages_total", "clinics", "down"] == 180
    assert found["fedbandit_bytes_total", "clinics", "up"] == told.totals()["bytes_up"]
    assert found["fedbandit_scalars_total", "clinics", "up"] == 8 * 180
    assert found["fedbandit_uploads_total", "clinics", "north"] == 60
    assert found["fedbandit_downloads_total", "1", "clinics"] == 60
    assert found["fedbandit_site_version", "clinics", "north"] == 60
    assert found["fedbandit_site_versions_behind", "clinics", "north"] == 0
    assert found["fedbandit_site_seconds_behind", "clinics", "north"] == 0
    assert found["fedbandit_site_last_contact_timestamp_seconds", "clinics", "north"] == NOW
    assert found["fedbandit_version", "clinics"] == 60
    assert found["fedbandit_journal_bytes", "clinics"] == 4096
    assert found["fedbandit_sites", "clinics", "current"] == 3


def test_metrics_of_rewards_are_those_of_sites_that_report():
    found = metrics([busy()])
    assert found["fedbandit_site_reported_reward_sum", "1", "clinics"] == 30.0
    assert ("fedbandit_site_reported_reward_sum", "2", "clinics") not in found


def test_metrics_count_refusals_by_reason():
    told = Telemetry("clinics", "async-linucb", 1, 0.0)
    for number in range(3):
        told.received(upload(0), Verdict(Outcome.REFUSED, f"upload {number} is too large"), 1.0, sender=0)
    assert metrics([told])["fedbandit_refused_total", "clinics", "upload # is too large"] == 3


def test_metrics_count_refusals_by_who_sent_what_was_refused_from_zero_on():
    told = Telemetry("clinics", "async-linucb", 2, 0.0, names=["north", "south"])
    told.received(upload(0), Verdict(Outcome.REFUSED, "too large"), 1.0, sender=0)
    told.received(upload(7), Verdict(Outcome.REFUSED, "who is this"), 1.0, sender=7)
    found = metrics([told])
    refused = [found["fedbandit_site_refused_total", "clinics", who] for who in ("north", "south", "not on the roster")]
    assert refused == [1, 0, 1]


def test_the_metrics_of_two_federations_stand_side_by_side():
    found = metrics([busy("clinics"), busy("shops", clients=2)])
    assert found["fedbandit_messages_total", "clinics", "up"] == 180
    assert found["fedbandit_messages_total", "shops", "up"] == 120


def test_the_status_is_that_of_the_telemetry():
    told = busy()
    status, _, body = get("/status.json?span=7200", [told])
    assert status == 200
    assert json.loads(body)["federations"] == [told.snapshot(NOW, 7200)]


def test_a_number_that_no_browser_reads_is_not_sent():
    told = busy()
    told.journal_bytes = float("nan")
    assert get("/status.json", [told])[0] == 500


def test_who_asks_for_no_span_gets_the_shortest():
    told = busy()
    assert get("/status.json", [told])[2] == get(f"/status.json?span={min(SPANS)}", [told])[2]


def test_a_span_that_is_not_kept_is_refused_in_one_sentence():
    status, _, body = get("/status.json?span=5", [busy()])
    assert status == 400
    assert body == "span must be one of (600, 7200, 86400, 2592000), not '5'"


def test_of_many_sites_only_the_first_are_listed():
    told = Telemetry("clinics", "async-linucb", 1000, 0.0)
    _, _, body = get("/status.json", [told])
    assert len(json.loads(body)["federations"][0]["sites"]) == MOST_SITES


@pytest.mark.parametrize("path", ["/nothing", "/assets/nothing.js", "/assets/..%2Fweb.py", "/assets/%2Fetc%2Fpasswd"])
def test_nothing_else_is_served(path):
    assert get(path, [])[0] == 404


@pytest.mark.parametrize("path", ["/", "/status.json", "/assets/status.js", "/nothing"])
def test_every_answer_forbids_scripts_from_elsewhere(path):
    _, headers, _ = get(path, [])
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_pages_name_no_other_address():
    for path in ("/", "/assets/status.js", "/assets/charts.js", "/assets/figures.js", "/assets/words.js"):
        _, _, text = get(path, [])
        assert "://" not in text.replace("http://www.w3.org/2000/svg", "").replace("nats://BROKER", "")


def test_a_port_that_is_taken_is_said_in_one_sentence():
    async def begin(port):
        async with serving(Pages([]), "127.0.0.1", port):
            raise AssertionError("the port was taken")

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InvalidInput, match=rf"port {port} of 127.0.0.1 cannot be had \(.*\): give another"):
            asyncio.run(begin(port))

"""What a coordinator's file says of limits, and what it leaves out."""

from __future__ import annotations

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.service.coordinator.settings import ServicePlan, read_plan

TEXT = """
broker = "{broker}"
[federations.clinics]
algorithm = "async-linucb"
clients = 3
dimension = 2
{limits}
"""


def plan(folder, broker, limits=""):
    (folder / "serve.toml").write_text(TEXT.format(broker=broker, limits=limits))
    return read_plan(folder / "serve.toml")


def test_sites_of_others_without_limits_are_warned_of_with_the_line_to_add(tmp_path):
    assert plan(tmp_path, "tls://broker:4222").warnings() == {
        "clinics": "no limit is set for context, reward, observations_per_second, so one site can pull the shared "
        "model as far as it likes: write limits = { context = 1.0, reward = 1.0, observations_per_second = 100 } in "
        "[federations.clinics], with numbers that hold for your data"
    }


def test_only_limits_that_are_missing_are_named(tmp_path):
    (said,) = plan(tmp_path, "tls://broker:4222", "limits = { context = 2, reward = 1 }").warnings().values()
    assert said.startswith("no limit is set for observations_per_second, so")
    assert "add observations_per_second = 100 to the limits in [federations.clinics]" in said


@pytest.mark.parametrize(
    ("broker", "limits"),
    [
        ("tls://broker:4222", "limits = { context = 2, reward = 1, observations_per_second = 5 }"),
        ("nats://127.0.0.1:4222", ""),
    ],
    ids=["all limits", "one machine"],
)
def test_nothing_is_said_where_nothing_is_missing(tmp_path, broker, limits):
    assert plan(tmp_path, broker, limits).warnings() == {}


def test_the_line_to_add_is_right(tmp_path):
    (said,) = plan(tmp_path, "tls://broker:4222").warnings().values()
    line = said.partition("write ")[2].partition(" in [")[0]
    assert plan(tmp_path, "tls://broker:4222", line).warnings() == {}


@pytest.mark.parametrize("http", [":8080", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:page", "127.0.0.1:65536"])
def test_an_address_of_the_page_needs_a_host_and_a_port(http):
    with pytest.raises(InvalidInput, match="is no address: write HOST:PORT"):
        ServicePlan(()).listening_at(http)
    assert ServicePlan(()).listening_at("[::1]:65535") == ServicePlan((), host="::1", port=65535)

"""What a coordinator says when it begins, and whose connections it ends."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from fedbandit.core.algorithm import Setting
from fedbandit.protocol.charter import Charter
from fedbandit.service.coordinator.settings import FederationPlan, ServicePlan
from fedbandit.service.coordinator.term import LONGEST_CONNECTION, Term


@pytest.mark.parametrize(
    ("name", "chosen", "warnings"),
    [("async-linucb", {}, 1), ("async-linucb", {"smallest_upload": 2}, 0), ("fedego-lasso", {}, 0)],
)
def test_it_warns_once_where_uploads_may_rest_on_one_observation(caplog, name, chosen, warnings):
    plan = FederationPlan("demo", Charter.named(name, Setting(3, 2, 8, 100), **chosen))
    term = Term(ServicePlan((plan,)))
    term.hosts = [SimpleNamespace(plan=plan, server=SimpleNamespace(charter=plan.charter), look=lambda: None)]
    term._warn()
    said = [each.getMessage() for each in caplog.records if "smallest_upload is 1" in each.getMessage()]
    assert len(said) == warnings
    assert all("run fedbandit change demo smallest_upload=16" in each for each in said)


def test_it_ends_no_connections_of_sites_whose_federation_is_served_elsewhere():
    term, told = Term(ServicePlan((), elsewhere=frozenset({"shops"}))), []

    async def probe():
        pass

    async def end_connections(**given):
        told.append(given)
        term.stop()

    term.hub = SimpleNamespace(probe=probe, end_connections=end_connections)
    asyncio.run(term._look_at_the_broker())
    assert told == [{"older_than": LONGEST_CONNECTION, "spared": {"shops"}}]

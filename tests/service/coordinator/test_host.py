"""One federation, without a broker: what its host does by itself."""

from __future__ import annotations

import asyncio

import pytest

from fedbandit.core.algorithm import Setting
from fedbandit.protocol.charter import Charter
from fedbandit.service.coordinator import host
from fedbandit.service.coordinator.settings import FederationPlan

CHARTER = Charter.named("async-linucb", Setting(clients=3, arms=1, dimension=2, horizon=1))


class NoHub:
    """A connection over which nothing comes."""

    async def open(self, door):
        self.door = door

    async def send(self, subjects, frames):
        assert not frames

    async def settle(self, arrivals):
        assert not arrivals


async def until(condition):
    async with asyncio.timeout(60.0):
        while not condition():
            await asyncio.sleep(0.001)


@pytest.fixture
def idle(tmp_path, monkeypatch):
    """A host that looks at its journal all the time."""
    monkeypatch.setattr(host, "MEASURE_SECONDS", 0.001)
    return host.FederationHost(FederationPlan("clinics", CHARTER), str(tmp_path), NoHub())


def test_a_journal_that_cannot_be_believed_is_a_grave_concern_though_nothing_arrives(idle, tmp_path):
    async def go():
        await idle.open()
        serving = asyncio.create_task(idle.serve())
        await until(lambda: idle.telemetry.journal_bytes)
        assert idle.telemetry.problem() == ""
        (tmp_path / "clinics.db").rename(tmp_path / "elsewhere.db")
        await until(idle.telemetry.problem)
        assert "clinics.db cannot be used: its file has gone" in idle.telemetry.problem()
        (tmp_path / "elsewhere.db").rename(tmp_path / "clinics.db")
        await until(lambda: not idle.telemetry.problem())
        idle.stop()
        await serving
        idle.close()

    asyncio.run(go())

"""Bad input of every kind at a coordinator that runs."""

from __future__ import annotations

import asyncio
import json

import nats

from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import MemoryJournal, open_journal
from fedbandit.transport.nats.link import NO_ROOM
from fedbandit.transport.nats.subjects import Subjects
from fedbandit.wire.state import encode_state
from samples import bad_frames
from samples.bad_frames import LIMITS
from samples.waiting import PATIENCE, until


def test_bad_input_of_every_kind_reaches_a_running_coordinator_and_changes_nothing(tmp_path, serve, broker):
    bounds = {"context": LIMITS.bounds.context, "reward": LIMITS.bounds.reward}
    names = ("observations_per_second", "observations_ahead", "uploads_ahead", "epochs")
    setting = bad_frames.charter().setting
    table = {
        "algorithm": "async-linucb", "clients": setting.clients, "arms": setting.arms, "dimension": setting.dimension,
        "horizon": setting.horizon, "keep_log": True,
        "set": {"upload_threshold": 1, "smallest_upload": 1, "download_threshold": 1},
        "limits": {**bounds, **{name: getattr(LIMITS, name) for name in names}},
    }  # fmt: skip
    coordinator, subject = serve({"bad": table}), Subjects("bad").up(1)
    frames = [each if isinstance(each, bytes) else each.to_bytes() for each, _ in bad_frames.BAD.values()]

    async def send():
        connection = await nats.connect(broker.url)
        publish = connection.jetstream().publish
        try:
            async with asyncio.timeout(PATIENCE):
                for frame in [bad_frames.introduction().to_bytes(), *small, bad_frames.GOOD.to_bytes()]:
                    while not await is_stored(publish(subject, frame)):
                        pass  # the broker keeps a number of a site's messages and no more
        finally:
            await connection.close()

    async def is_stored(sending):
        try:
            await sending
        except nats.js.errors.ServiceUnavailableError as error:
            if error.err_code in NO_ROOM:
                return False
            raise
        return True

    def refusals():
        return json.loads(coordinator.asked("status.json"))["federations"][0]["totals"]["refused"]

    small = [frame for frame in frames if len(frame) < 50_000]  # larger ones the broker does not even store
    assert len(small) == len(frames) - 1
    asyncio.run(send())
    until(lambda: refusals() == len(small), "refusals")
    assert coordinator.stop() == 0
    journal = open_journal(str(tmp_path / "journals"), "bad", keep_log=True)
    how = {"now": 0.0, "limits": LIMITS, "random_below": lambda _: 0}
    after = DurableServer(bad_frames.charter(), journal, epoch=1, **how)
    good = DurableServer(bad_frames.charter(), MemoryJournal(), epoch=after.node.epoch, **how)
    for frame in (bad_frames.introduction(), bad_frames.GOOD):
        good.receive(frame.to_bytes(), 0.0, 1)
    assert encode_state(after.node.memory) == encode_state(good.node.memory)
    assert after.accounts.observations == good.accounts.observations
    journal.close()

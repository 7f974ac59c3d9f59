"""The conversation of a site with its coordinator: what is said when, and what becomes of it when something fails.

All of it happens in a loop with a clock of its own, so that waits of minutes take no time and are exact.
"""

from __future__ import annotations

import asyncio
import logging
from itertools import pairwise

import pytest

from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.site.condition import SiteState
from fedbandit.site.conversation import FAREWELL_SECONDS, SILENT
from fedbandit.transport.link import LinkRefused, NotStored
from samples.conversations import Exchange
from samples.fake_time import run_in_fake_time


def test_everything_is_said_again_at_regular_times_while_the_coordinator_answers():
    exchange = Exchange()
    exchange.run(100)
    assert exchange.everything_at == [0, 30, 60, 90]


@pytest.mark.parametrize("busy", [{"news_each": 0.7}, {"frames_each": 0.7}])
def test_neither_news_nor_what_is_heard_puts_off_what_may_have_been_lost(busy):
    exchange = Exchange(**busy)
    exchange.run(100)
    assert len(exchange.everything_at) == 4
    assert exchange.everything_at == pytest.approx([0, 30, 60, 90], abs=1.5)


def test_news_leaves_at_once():
    exchange = Exchange(news_each=7.0)
    exchange.run(22)
    assert [at for at in exchange.news_at if at] == [7, 14, 21, 22], "the last is said at the end"


def test_while_the_coordinator_is_away_everything_is_said_less_and_less_often():
    exchange = Exchange(answers=False)
    exchange.run(3600)
    assert exchange.everything_at == [0, 30, 90, 210, 450, 930, 1530, 2130, 2730, 3330]


def test_when_the_coordinator_is_heard_again_the_old_pace_returns_at_once():
    exchange = Exchange(answers=False)

    def come_back():
        exchange.answers = True
        exchange.arrived.put_nowait(b"a download")

    async def main():
        asyncio.get_running_loop().call_later(500, come_back)
        asyncio.get_running_loop().call_later(600, exchange.conversation.end)
        await exchange.conversation.run()

    run_in_fake_time(main())
    assert exchange.everything_at == [0, 30, 90, 210, 450, 530, 560, 590]


def test_a_coordinator_that_is_heard_once_and_goes_away_again_is_waited_for_as_at_first():
    exchange = Exchange(answers=False)

    async def main():
        asyncio.get_running_loop().call_later(500, lambda: exchange.arrived.put_nowait(b"a download"))
        asyncio.get_running_loop().call_later(1000, exchange.conversation.end)
        await exchange.conversation.run()

    run_in_fake_time(main())
    assert exchange.everything_at == [0, 30, 90, 210, 450, 530, 560, 620, 740, 980]


def test_attempts_to_connect_become_rare():
    exchange = Exchange()
    exchange.fail("connect", ConnectionRefusedError("nobody listens"), times=10)
    exchange.run(600)
    waits = [later - earlier for earlier, later in pairwise(exchange.connected_at)]
    assert waits == [1, 2, 4, 8, 16, 32, 64, 120, 120, 120]


def test_a_broker_that_stores_nothing_is_tried_less_and_less_often():
    exchange = Exchange(answers=False)
    exchange.fail("send", NotStored("the broker is full"), times=100)
    exchange.run(600)
    assert exchange.connected_at == [0, 1, 3, 7, 15, 31, 63, 127, 247, 367, 487]


def test_a_link_that_is_lost_after_the_coordinator_was_heard_is_made_again_soon():
    exchange = Exchange()

    async def main():
        loop = asyncio.get_running_loop()
        for at in (10, 20, 30):
            loop.call_later(at, lambda: exchange.arrived.put_nowait(None))
        loop.call_later(40, exchange.conversation.end)
        await exchange.conversation.run()

    run_in_fake_time(main())
    assert exchange.connected_at == [0, 11, 21, 31]


@pytest.mark.parametrize(
    ("error", "state", "trouble"),
    [
        (ConnectionRefusedError("nobody"), SiteState.CONNECTING, "no connection to the coordinator (nobody)"),
        (LinkRefused("the certificate has expired"), SiteState.REFUSED, "the certificate has expired"),
        (NotStored("the broker is full"), SiteState.FAILING, "the broker is full"),
        (InvalidInput("the disk is full: make room"), SiteState.FAILING, "the disk is full: make room"),
        (MemoryError("no room"), SiteState.FAILING, "MemoryError: no room"),
        (RuntimeError("a bug"), SiteState.FAILING, "RuntimeError: a bug"),
    ],
)
@pytest.mark.parametrize("where", ["connect", "everything", "news", "hear", "send", "receive"])
def test_whatever_fails_is_shown_and_tried_again(error, state, trouble, where, caplog):
    exchange = Exchange(news_each=0.5)
    exchange.fail(where, error, times=3)
    with caplog.at_level(logging.WARNING, "fedbandit.site"):
        exchange.run(60)
    if where != "connect":
        trouble = trouble.replace("no connection to the coordinator", "the connection to the coordinator was lost")
    assert (state, trouble) in exchange.states
    last = len(exchange.states) - exchange.states[::-1].index((state, trouble))
    assert (SiteState.CONNECTED, "") in exchange.states[last:], "it goes well again"
    assert exchange.condition.now == (SiteState.OFFLINE, "")
    told = [record.getMessage() for record in caplog.records]
    assert set(told) == {f"{state.value}: {trouble}"}
    assert len(told) == 1 or where in ("news", "receive"), "once, unless it went well in between"


def test_an_error_that_nobody_expects_is_logged_with_its_traceback(caplog):
    exchange = Exchange()
    exchange.fail("everything", RuntimeError("a bug"), times=5)
    exchange.run(60)
    (record,) = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert "RuntimeError: a bug" in record.exc_text


def test_a_frame_that_is_not_right_is_shown_and_the_conversation_goes_on(caplog):
    exchange = Exchange()
    exchange.fail("hear", ProtocolError("frame cut short"), times=1)
    exchange.run(50)
    assert exchange.connected_at == [0]
    assert exchange.states[1:] == [
        (SiteState.FAILING, "a frame from the coordinator cannot be read: frame cut short"),
        (SiteState.CONNECTED, ""),
        (SiteState.OFFLINE, ""),
    ]


def test_a_coordinator_that_does_not_answer_is_told_of_once(caplog):
    exchange = Exchange(answers=False)
    exchange.run(1000)
    assert (SiteState.CONNECTING, SILENT) in exchange.states
    assert [each.getMessage() for each in caplog.records] == [f"connecting: {SILENT}"]


def test_a_coordinator_that_refuses_for_now_is_shown_until_it_no_longer_does(caplog):
    exchange = Exchange()
    exchange.refusal = "this site runs another algorithm"

    async def main():
        loop = asyncio.get_running_loop()
        loop.call_later(95, lambda: setattr(exchange, "refusal", ""))
        loop.call_later(200, exchange.conversation.end)
        await exchange.conversation.run()

    run_in_fake_time(main())
    assert [each for each in exchange.states if each[0] is not SiteState.OFFLINE] == [
        (SiteState.CONNECTING, ""), (SiteState.REFUSED, exchange.refusal or "this site runs another algorithm"),
        (SiteState.CONNECTED, ""),
    ]  # fmt: skip
    assert len([each for each in caplog.records if each.levelno == logging.WARNING]) == 1


async def forever(*arguments):
    await asyncio.Event().wait()


@pytest.mark.parametrize("where", ["connect", "send", "receive", "close"])
def test_a_conversation_that_is_over_ends_soon_though_the_network_hangs(where):
    exchange = Exchange()
    setattr(exchange, where, forever)
    exchange.conversation._connect = exchange.connect
    assert exchange.run(5) <= 5 + 2 * FAREWELL_SECONDS
    assert exchange.conversation.has_ended.is_set()


def test_a_conversation_that_is_over_while_it_connects_still_says_what_it_has_to_say():
    exchange, said = Exchange(), []

    async def slowly():
        await asyncio.sleep(1.5)
        return await Exchange.connect(exchange)

    async def send(frame):
        said.append(frame)

    exchange.conversation._connect, exchange.send = slowly, send
    assert exchange.run(0.5) == 1.5
    assert said == [b"everything"]


@pytest.mark.parametrize("where", ["connect", "send", "receive"])
def test_a_conversation_that_is_cancelled_leaves_nothing_behind(where):
    exchange = Exchange()
    setattr(exchange, where, forever)
    exchange.conversation._connect = exchange.connect

    async def main():
        talk = asyncio.ensure_future(exchange.conversation.run())
        await asyncio.sleep(5)
        talk.cancel()
        await asyncio.gather(talk, return_exceptions=True)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert run_in_fake_time(main())[0] == set()
    assert exchange.condition.now == (SiteState.OFFLINE, "")


def test_waking_a_conversation_whose_loop_is_gone_does_nothing():
    exchange = Exchange()
    exchange.run(5)
    exchange.conversation.wake()
    exchange.conversation.end()

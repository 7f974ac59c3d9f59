"""The status page as a person sees it, in a browser without internet."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.durable.coordinator.outcome import Outcome, Verdict
from fedbandit.service.status.telemetry import Telemetry
from samples.browser import PROGRAM
from samples.pages import NOW, TEXT, World, table, words
from samples.told import ACCEPTED, busy, upload, watching

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no browser: install chromium, as `apt install chromium` does")


def test_the_page_shows_sites_traffic_rewards_and_arms(look):
    told = busy(names=["north", "south", "east"])

    async def visit(page):
        return await page.look(TEXT), await table(page), await page.look("document.querySelectorAll('svg rect').length")

    seen, rows, bars = look(World(told), visit)
    assert "All 3 sites are up to date." in seen
    assert "180 uploads" in seen
    assert "0.500 average of 120 rewards" in seen
    assert "50 % red" in seen
    assert [row[:5] for row in rows] == [
        ["north", "up to date", "just now", "60", "none"],
        ["south", "up to date", "just now", "60", "none"],
        ["east", "up to date", "just now", "60", "none"],
    ]
    assert [row[-1] for row in rows] == ["0.500", "0.500", "not reported"]
    assert bars > 50


def test_the_page_follows_what_happens_without_a_reload(look):
    told = busy()
    world = World(told)

    async def visit(page):
        await page.look("window.stays = true")
        world.now += 200.0
        told.received(upload(0, 61), ACCEPTED, world.now, sender=0)
        await page.until(f"{TEXT}.includes('2 of 3 sites have been silent')")
        assert await page.look("window.stays")
        return await table(page)

    rows = look(world, visit)
    assert [row[1] for row in rows] == ["silent", "silent", "up to date"]
    assert [row[0] for row in rows] == ["site 1", "site 2", "site 0"]


def test_nothing_yet_is_said_and_what_to_do(look):
    seen = look(World(Telemetry("clinics", "async-linucb", 12, NOW)), words)
    assert "No site has connected yet: the coordinator waits for 12 sites." in seen
    assert 'site = fb.Site("async-linucb"' in seen
    assert "Uploads" not in seen


def test_a_coordinator_without_federations_says_so(look):
    assert "serves no federation" in look(World(), words)


def test_one_that_stands_by_says_so_and_shows_the_federations_when_it_takes_over(look):
    world = World()
    world.is_active = False

    async def visit(page):
        said = await page.look(TEXT)
        world.is_active, world.federations[:] = True, [busy()]
        await page.until(f"{TEXT}.includes('All 3 sites are up to date.')")
        return said, await page.look(TEXT)

    before, after = look(world, visit)
    assert "Standby: another coordinator serves the federations." in before
    assert "Standby" not in after


def test_sites_that_do_not_report_are_not_said_to_have_chosen_nothing(look):
    told = Telemetry("clinics", "async-linucb", 1, NOW - 60)
    told.received(upload(0), ACCEPTED, NOW, sender=0)
    seen = look(World(told), words)
    assert seen.count("No site has opted in") == 2
    assert "Mean reward" not in seen


def test_refusals_and_closed_rounds_are_told_with_their_reason(look):
    told = busy()
    told.received(upload(1), Verdict(Outcome.REFUSED, "gram has a number of size 1e+120"), NOW, sender=1)
    told.left_out([2], NOW - 30)
    seen = look(World(told), words)
    assert "1 time, last just now from site 1: gram has a number of size 1e+120" in seen
    assert "30 s ago, without site 2; their data wait for the next round" in seen


def test_what_calls_for_attention_stands_at_the_top_with_site_and_time(look):
    told = busy(names=["north"])
    told.watch.concerns.note("two-sites-one-number", "two sites use number 0: give one of them another", NOW - 600, 0)
    told.watch.concerns.note("limits-missing", "no limits are set: add <b>limits</b>", NOW - 60)

    async def visit(page):
        items = await page.look("[...document.querySelectorAll('.concerns li')].map(each => each.innerText)")
        bold = await page.look("document.querySelectorAll('.concerns b').length")
        banner = await page.look("document.getElementById('banner').hidden")
        return items, bold, banner, await page.look(TEXT), await table(page), await page.look("document.title")

    items, bold, has_no_banner, seen, rows, title = look(World(told), visit)
    assert [each.split("\n")[0] for each in items] == [
        "No limits are set: add <b>limits</b>.", "Two sites use number 0: give one of them another.",
    ]  # fmt: skip
    assert "the whole federation, since" in items[0]
    assert "north, since" in items[1]
    assert "(10 min ago)" in items[1]
    assert (bold, has_no_banner, title) == (0, True, "(2) fedbandit")
    assert "1 of 3 sites is in trouble" in seen
    assert [row[1] for row in rows] == ["trouble", "up to date", "up to date"]


def test_a_grave_concern_is_said_at_the_very_top_too(look):
    told = busy()
    told.watch.concerns.note("journal-damaged", "record 7 of the journal is damaged", NOW)

    async def visit(page):
        return await page.look("document.getElementById('banner').innerText"), await page.look(TEXT)

    banner, seen = look(World(told), visit)
    assert banner == "The coordinator is not ready: clinics: record 7 of the journal is damaged"
    assert "The coordinator cannot do its work." in seen


def test_a_concern_goes_from_the_page_when_it_is_over(look):
    told = busy()
    told.watch.concerns.note("backlog", "site 1 has 2000 uploads", NOW, 1)

    async def visit(page):
        await page.until("document.querySelectorAll('.concerns li').length === 1")
        told.watch.concerns.clear("backlog", 1)
        await page.until("document.querySelector('.concerns').hidden")
        return await page.look(TEXT)

    assert "All 3 sites are up to date." in look(World(told), visit)


def test_backlog_and_share_stand_in_the_table(look):
    told = busy()
    told.watch.look({0: 300, 1: 100, 2: 100}, NOW)
    told.watch.waiting(1, 17, NOW)
    rows = look(World(told), table)
    assert [row[5] for row in rows] == ["0", "17", "0"]
    assert [row[7] for row in rows] == ["60 %", "20 %", "20 %"]


def test_revisions_stand_in_the_table_of_a_federation_that_was_changed(look):
    told = busy()
    told.revision, told.sites[0].revision, told.sites[1].revision, told.sites[2].revision = 2, 2, 1, None
    rows = look(World(told), table)
    assert [row[11] for row in rows] == ["2", "1", "not told"]


def test_peers_stand_in_the_table_where_not_all_share_with_all(look):
    told = busy()
    heads = "[...document.querySelectorAll('thead th')].map(head => head.innerText)"

    async def visit(page):
        before = await page.look(heads)
        told.peers = np.array([1, 1, 0])
        await page.until(f"{heads}.includes('Peers')")
        return before, await table(page), await page.look(TEXT)

    before, rows, seen = look(World(told), visit)
    assert "Peers" not in before
    assert [row[11] for row in rows] == ["1", "1", "0"]
    assert [row[-1] for row in rows] == ["0.500", "0.500", "not reported"]
    assert "which may well be right" in seen


@pytest.mark.slow
def test_a_problem_of_the_coordinator_and_its_silence_are_said_at_the_top(look):
    world = World(busy())
    world.problem = "the broker is away"

    async def visit(page):
        banner = "document.getElementById('banner')"
        first = await page.look(f"{banner}.innerText")
        world.problem = ""
        await page.until(f"{banner}.hidden")
        await page.look("window.fetch = () => Promise.reject(new Error('cut'))")
        await page.until(f"!{banner}.hidden")
        words = await page.look(f"{banner}.innerText")
        page.complaints.clear()
        return first, words

    first, then = look(world, visit)
    assert first == "The coordinator is not ready: the broker is away"
    assert then.startswith("The coordinator has not answered since")


def test_what_sites_watch_stands_in_a_table_of_its_own(look):
    rows = "[...document.querySelectorAll('.watched tbody tr')].map(row => [...row.cells].map(cell => cell.innerText))"

    async def visit(page):
        return await page.look(rows), await page.look(TEXT)

    found, seen = look(World(watching()), visit)
    assert found == [
        [
            "north",
            "2,000",
            "0.520",
            "0.490",
            "\u22120.030 ± 0.010",
            "4 %",
            "10 %, 190 rewards",
            "+0.041 (+0.010 to +0.072)",
        ],
        ["south", "1,500", "0.500", "0.499", "\u22120.001 ± 0.012", "not known", "none", ""],
    ]
    assert "PREDICTIONS AND REWARDS" in seen.upper()
    nothing, without = look(World(busy()), visit)
    assert nothing == []
    assert "PREDICTIONS AND REWARDS" not in without.upper()

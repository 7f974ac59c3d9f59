"""The status page as a person sees it, in a browser without internet."""

from __future__ import annotations

import asyncio
import tempfile

import numpy as np
import pytest

from fedbandit.durable.outcome import Outcome, Verdict
from fedbandit.service.status.telemetry import Telemetry
from fedbandit.service.status.web import Pages, serving
from fedbandit.wire.report import Report
from samples.browser import PROGRAM, browser
from samples.told import ACCEPTED, busy, upload

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no browser: install chromium, as `apt install chromium` does")
NOW = 1000.0
LIVE = "document.getElementById('live').dataset.state === 'current'"
TEXT = "document.querySelector('main').innerText"


@pytest.fixture(scope="module")
def window():
    """One browser for all tests, and the loop in which it is talked to."""
    with asyncio.Runner() as runner, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        opened = browser(folder)
        yield runner, runner.run(opened.__aenter__())
        runner.run(opened.__aexit__(None, None, None))


class World:
    """What the pages tell, and when; a test changes it while the page is open."""

    def __init__(self, *federations):
        self.federations = list(federations)
        self.now = NOW
        self.problem = ""


@pytest.fixture
def look(window):
    """Open the page of a world and return what a visit of it finds."""
    runner, page = window

    def look(world, visit, **how):
        async def go():
            page.complaints.clear()
            page.requests.clear()
            pages = Pages(world.federations, readiness=lambda: world.problem, clock=lambda: world.now)
            async with serving(pages, "127.0.0.1", 0) as address:
                await page.open(address, **how)
                await page.until(LIVE)
                found = await visit(page)
                assert page.complaints == []
                assert all(url.startswith(address) for url in page.requests)
                await page.call("Page.navigate", url="about:blank")
                return found

        return runner.run(go())

    return look


def words(page):
    return page.look(TEXT)


def table(page):
    return page.look(
        "[...document.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.innerText.trim()))"
    )


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


def test_reports_of_absurd_size_and_arms_called_as_our_fields_are_drawn_like_all_others(look):
    told = busy()
    arms = {"at": 3, "__proto__": 2, "constructor": 2, "sums": 1}
    for life, reward_sum in enumerate([5e-324, 8e100, -8e100, 1e-310, 3.0], 2):
        frame = Report(8, 8, reward_sum, arms).to_frame(0, life).to_bytes()
        assert told.report(frame, NOW - 5 * life, sender=0).outcome is Outcome.ACCEPTED

    async def visit(page):
        broken = "[...document.querySelectorAll('svg *')].filter(each => /NaN|Infinity/.test(each.outerHTML)).length"
        width = await page.look("document.documentElement.scrollWidth")
        return await page.look(TEXT), await page.look(broken), width

    seen, broken, width = look(World(told), visit)
    assert broken == 0
    assert width <= 1280
    assert "at" in seen
    assert "NaN" not in seen
    assert "Infinity" not in seen


def test_several_federations_stand_on_one_page_each_with_its_own_numbers(look):
    world = World(busy("clinics"), busy("shops", clients=2))

    async def visit(page):
        titles = await page.look("[...document.querySelectorAll('h2')].map(each => each.innerText)")
        uploads = await page.look(
            "[...document.querySelectorAll('.tiles')].map(each => each.innerText.split('\\n')[4])"
        )
        return titles, uploads, await page.look("[...document.querySelectorAll('nav a')].map(each => each.hash)")

    assert look(world, visit) == (["clinics", "shops"], ["180", "120"], ["#federation-clinics", "#federation-shops"])


def test_names_from_sites_are_shown_as_text_and_not_as_markup(look):
    async def visit(page):
        return await page.look(TEXT), await page.look("document.querySelectorAll('main figure b b').length")

    seen, bold = look(World(busy()), visit)
    assert "<b>blue</b>" in seen
    assert bold == 0


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


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_wider_than_the_screen_and_words_stand_out_from_their_ground(look, width, dark):
    contrast = """(() => {
      const light = colour => { const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(each => {
        const share = each / 255; return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4; });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const ground = node => { for (; node; node = node.parentElement) {
        const colour = getComputedStyle(node).backgroundColor;
        if (!/, 0\\)$/.test(colour) && colour !== 'transparent') return colour; } };
      return [...document.querySelectorAll('p, th, td, dt, dd, h2, h3, a, .key, .spans span')]
        .filter(node => node.innerText && node.checkVisibility()).map(node => {
          const pair = [light(getComputedStyle(node).color), light(ground(node))].sort((a, b) => b - a);
          return [(pair[0] + 0.05) / (pair[1] + 0.05), node.innerText.slice(0, 30)]; }).sort((a, b) => a[0] - b[0])[0];
    })()"""

    async def visit(page):
        return await page.look("document.documentElement.scrollWidth"), await page.look(contrast)

    told = busy()
    told.watch.concerns.note("two-sites-one-number", "two sites use number 0: give one of them another", NOW, 0)
    told.watch.concerns.note("uploads-refused", "an upload was refused: " + "x" * 300, NOW, 1)
    scroll, (worst, where) = look(World(told), visit, width=width, dark=dark)
    assert scroll <= width
    assert worst >= 4.5, where


def test_a_chart_can_be_read_moment_by_moment_with_the_keyboard(look):
    async def visit(page):
        await page.look("document.querySelector('.canvas').focus()")
        for key in ("ArrowLeft", "ArrowLeft"):
            await page.call("Input.dispatchKeyEvent", type="keyDown", key=key)
        role = await page.look("document.querySelector('.canvas').getAttribute('aria-label')")
        return role, await page.look("document.querySelector('.reading').innerText")

    label, reading = look(World(busy()), visit)
    assert label.startswith("Messages: 15 uploads")
    assert reading.endswith("in 5 s, just now")


def test_the_span_can_be_chosen(look):
    told = busy(seconds=60)

    async def visit(page):
        await page.look("document.querySelector('input[value=\"7200\"]').click()")
        await page.until("performance.getEntriesByType('resource').some(each => each.name.includes('span=7200'))")
        return True

    assert look(World(told), visit)

"""The status page with names and numbers of any size, on any screen, by keyboard."""

from __future__ import annotations

import pytest

from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.service.status.site_record import SiteRecord
from fedbandit.wire.report import Report
from samples.pages import NOW, TEXT, World
from samples.told import busy, watching


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


@pytest.mark.parametrize("path", ["", "sites/clinics/north"])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_wider_than_the_screen_and_words_stand_out_from_their_ground(look, width, dark, path):
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

    cut = "[...document.querySelectorAll('.sites')].filter(each => each.scrollWidth > each.clientWidth).length"

    async def visit(page):
        widest = await page.look("document.documentElement.scrollWidth")
        return widest + 10_000 * await page.look(cut), await page.look(contrast)

    told = watching()
    told.watch.concerns.note("two-sites-one-number", "two sites use number 0: give one of them another", NOW, 0)
    told.watch.concerns.note("uploads-refused", "an upload was refused: " + "x" * 300, NOW, 1)
    scroll, (worst, where) = look(World(told), visit, path, width=width, dark=dark)
    assert scroll <= width
    assert worst >= 4.5, where


def test_the_table_of_sites_fits_with_all_its_columns_and_a_site_that_tells_nothing(look):
    told = watching()
    told.sites[2] = SiteRecord(2, "east wing")
    told.revision, told.peers = 2, [1, 1, 0]

    async def visit(page):
        columns = await page.look("document.querySelectorAll('.sites:not(.watched) thead th').length")
        return columns, await page.look(
            "[...document.querySelectorAll('.sites')].map(each => each.scrollWidth - each.clientWidth)"
        )

    assert look(World(told), visit) == (15, [0, 0])


def test_an_axis_of_few_messages_has_whole_numbers_each_once(look):
    told = busy(seconds=1, clients=1)

    async def visit(page):
        return await page.look(
            "[...document.querySelector('svg').querySelectorAll('.tick')].map(each => each.textContent)"
        )

    numbers = [each for each in look(World(told), visit) if each.isdigit()]
    assert sorted(numbers) == ["0", "1", "1"]  # one up, one down


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

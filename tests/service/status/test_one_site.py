"""One site on a page of its own, and that all that is told has the form that the schema declares."""

from __future__ import annotations

import asyncio
import json
import zlib
from importlib.resources import files

import aiohttp
import numpy as np
import pytest

from fedbandit.durable.coordinator.outcome import Outcome, Verdict
from fedbandit.service.status.history import SPANS
from fedbandit.service.status.kept import note_of, recall
from fedbandit.service.status.one_site import one_site
from fedbandit.service.status.telemetry import Telemetry
from fedbandit.service.status.traffic import MOST_HISTORIES
from fedbandit.service.status.web import Pages, serving
from samples.browser import PROGRAM
from samples.pages import NOW, TEXT, World, table
from samples.told import ACCEPTED, busy, download, report, upload, watching

NEEDS_BROWSER = pytest.mark.skipif(
    PROGRAM is None, reason="no browser: install chromium, as `apt install chromium` does"
)


def get(paths, federations, **more):
    """Return status and body of pages."""

    async def ask():
        found = []
        pages = Pages(federations, clock=lambda: NOW, **more)
        async with serving(pages, "127.0.0.1", 0) as address, aiohttp.ClientSession() as session:
            for path in paths:
                async with session.get(address.rstrip("/") + path) as answer:
                    found.append((answer.status, await answer.text()))
        return found

    return asyncio.run(ask())


def eventful():
    """A federation with all that can be told of one."""
    told = watching()
    told.report(report(2500, 2100, 1030.0, {"red": 2500}, 0, 3, drift={"rewards": 2}), NOW, sender=0)
    told.received(upload(0, 99), Verdict(Outcome.REFUSED, "gram has a number of size 1e+120"), NOW, sender=0)
    told.received(b"nonsense", Verdict(Outcome.REFUSED, "frame cut short"), NOW)
    told.left_out([0, 2], NOW - 30)
    told.watch.look({0: 5000, 1: 90, 2: 110}, NOW)
    told.watch.concerns.note("limits-missing", "no limits are set", NOW)
    told.peers, told.revision = np.array([2, 2, 0]), 3
    return told


def test_a_site_is_found_by_its_name_and_by_its_number_and_no_other():
    known = ["/sites/clinics/north/status.json", "/sites/clinics/0/status.json", "/sites/clinics/north"]
    unknown = ["/sites/clinics/west/status.json", "/sites/clinics/3/status.json", "/sites/shops/north"]
    unknown += ["/sites/clinics/-1", "/sites/clinics/" + "9" * 5000]
    found = get([*known, *unknown], [eventful()])
    assert [status for status, _ in found] == [200] * len(known) + [404] * len(unknown)
    assert json.loads(found[0][1])["told"] == json.loads(found[1][1])["told"]
    assert found[3][1] == "there is no site 'west' of a federation 'clinics' here"


def test_a_name_that_looks_like_a_number_does_not_hide_the_site_of_that_number():
    told = busy(names=["2", "1", "north"])
    assert json.loads(get(["/sites/clinics/2/status.json"], [told])[0][1])["told"]["site"]["name"] == "north"


def test_the_page_itself_is_there_while_a_coordinator_stands_by():
    page, status = get(["/sites/clinics/north", "/sites/clinics/north/status.json"], [], is_active=lambda: False)
    assert (page[0], status[0]) == (200, 404)


def test_its_traffic_concerns_and_refusals_are_its_own():
    told = eventful()
    told.sent(download(1, 61), NOW)
    one, other = one_site(told, 0, NOW, 600), one_site(told, 1, NOW, 600)

    def total(of, key):
        return sum(each["sums"].get(key, 0) for each in of["traffic"])

    assert (total(one, "downloads"), total(other, "downloads")) == (60, 61)
    assert {each["kind"] for each in one["concerns"]} == {"one-site-outweighs", "site-drift", "uploads-refused"}
    assert [each["reason"] for each in one["refusals"]] == ["gram has a number of size 1e+120"]
    assert one["rounds_cut"] == [{"at": NOW - 30, "left_out": [0, 2]}]
    assert other["concerns"] == other["refusals"] == other["rounds_cut"] == []


def test_histories_are_kept_of_so_many_sites_and_outlive_the_coordinator():
    told = Telemetry("shops", "async-linucb", MOST_HISTORIES + 1, now=NOW)
    for site in range(MOST_HISTORIES + 1):
        told.received(upload(site), ACCEPTED, NOW, sender=site, scalars=8)
    again = Telemetry("shops", "async-linucb", MOST_HISTORIES + 1, now=NOW + 9)
    assert recall(again, note_of(told))
    for each in (told, again):
        assert one_site(each, MOST_HISTORIES, NOW, 600)["traffic"] is None
        assert one_site(each, 7, NOW, 600)["traffic"] == [
            {"at": 1000, "sums": {"bytes_up": len(upload(7)), "uploads": 1.0, "scalars": 8.0}}
        ]


def test_a_note_of_before_histories_of_sites_were_kept_is_read():
    memory = json.loads(zlib.decompress(note_of(busy())))
    del memory["site_traffic"]
    again = busy(seconds=1)
    assert recall(again, zlib.compress(json.dumps(memory).encode()))
    assert again.totals()["uploads"] == 180
    assert one_site(again, 0, NOW, 600)["traffic"] is None


def test_all_that_is_told_has_the_declared_form():
    jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema: pip install jsonschema")
    schema = json.loads((files("fedbandit.service.status") / "assets" / "status.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    federations = [eventful(), busy("shops"), Telemetry("nobody", "fldb-gd", 2, NOW)]
    sites = [f"/sites/{each.name}/{number}/status.json" for each in federations for number in range(2)]
    for _, body in get([f"{path}?span={span}" for path in ("/status.json", *sites) for span in SPANS], federations):
        check.validate(json.loads(body))
    told = json.loads(body)
    for wrong in (told | {"more": 1}, {**told, "told": {**told["told"], "more": 1}}, {"now": 1.0}):
        assert not check.is_valid(wrong)
    check.validate(json.loads(get(["/status.json"], [], is_active=lambda: False)[0][1]))


@NEEDS_BROWSER
def test_a_click_on_a_site_leads_to_its_page_and_back(look):
    async def visit(page):
        await page.look("document.querySelector('tbody th a').click()")
        await page.until(f"location.pathname === '/sites/clinics/north' && {TEXT}.includes('is in trouble')")
        seen, rows = await page.look(TEXT), await table(page)
        await page.look("document.getElementById('back').click()")
        await page.until("location.pathname === '/' && document.querySelectorAll('.federation').length === 1")
        return seen, rows

    seen, rows = look(World(eventful()), visit)
    expected = ["north", "site 0 of clinics, async-linucb", "96 %", "2 alarms", "of its rewards", "60 uploads"]
    expected += ["1 round closed without it", "just now: gram has a number of size 1e+120", "Revision"]
    assert [words for words in expected if words not in seen] == []
    assert rows == [["red", "2,500", "100 %"]]


@NEEDS_BROWSER
def test_predictions_and_control_of_a_site_are_on_its_page(look):
    seen = look(World(watching()), lambda page: table(page), "sites/clinics/north")
    assert [
        "north",
        "2,000",
        "0.520",
        "0.490",
        "−0.030 ± 0.010",
        "4 %",
        "10 %, 190 rewards",
        "+0.041 (+0.010 to +0.072)",
    ] in seen


@NEEDS_BROWSER
def test_a_site_that_nobody_has_heard_from_says_so(look):
    seen = look(World(Telemetry("clinics", "async-linucb", 2, NOW)), lambda page: page.look(TEXT), "sites/clinics/1")
    assert "The site has not been heard from yet." in seen
    assert "Charts over time are kept" not in seen
    assert "NaN" not in seen

"""What a coordinator tells of a federation that nobody has joined yet, and a browser that looks at its page."""

from __future__ import annotations

import asyncio
import tempfile

import pytest

from fedbandit.service.status.telemetry import Telemetry
from fedbandit.service.status.web import Pages, serving
from samples.browser import browser
from samples.pages import LIVE


@pytest.fixture
def told():
    return Telemetry("clinics", "async-linucb", clients=3, now=0.0, names=["north", "south"])


@pytest.fixture(scope="module")
def window():
    """One browser for all tests, and the loop in which it is talked to."""
    with asyncio.Runner() as runner, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        opened = browser(folder)
        yield runner, runner.run(opened.__aenter__())
        runner.run(opened.__aexit__(None, None, None))


@pytest.fixture
def look(window):
    """Open the page of a world and return what a visit of it finds."""
    runner, page = window

    def look(world, visit, path="", **how):
        async def go():
            page.complaints.clear()
            page.requests.clear()
            pages = Pages(
                world.federations, readiness=lambda: world.problem, is_active=lambda: world.is_active,
                clock=lambda: world.now,
            )  # fmt: skip
            async with serving(pages, "127.0.0.1", 0) as address:
                await page.open(address + path, **how)
                await page.until(LIVE)
                found = await visit(page)
                assert page.complaints == []
                assert all(url.startswith(address) for url in page.requests)
                await page.call("Page.navigate", url="about:blank")
                return found

        return runner.run(go())

    return look

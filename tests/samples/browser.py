"""A headless Chromium that tests talk to, over its debugging port: no driver to install."""

from __future__ import annotations

import asyncio
import base64
import os
import re
import shutil
import subprocess
from contextlib import asynccontextmanager, suppress

import aiohttp

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--mute-audio")
NO_INTERNET = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
PATIENCE = 30.0
NAVIGATIONS = 10
IMPATIENT = "const later = setTimeout; window.setTimeout = (act, wait) => later(act, wait > 100 ? wait / 20 : wait)"


class Page:
    """One page of the browser."""

    def __init__(self, socket):
        self._socket = socket
        self._answers = {}
        self._count = 0
        self.complaints = []  # what the page wrote as an error, and what it could not load
        self.requests = []

    async def listen(self):
        async for message in self._socket:
            data = message.json()
            if "id" in data:
                self._answers[data["id"]].set_result(data)
            elif data["method"] == "Runtime.exceptionThrown":
                self.complaints.append(data["params"]["exceptionDetails"]["text"])
            elif data["method"] == "Log.entryAdded" and data["params"]["entry"]["level"] == "error":
                self.complaints.append(data["params"]["entry"]["text"])
            elif data["method"] == "Network.requestWillBeSent":
                self.requests.append(data["params"]["request"]["url"])

    async def call(self, method, **parameters):
        self._count += 1
        self._answers[self._count] = answer = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": self._count, "method": method, "params": parameters})
        data = await asyncio.wait_for(answer, PATIENCE)
        if "error" in data:
            raise LookupError(data["error"])
        return data["result"]

    async def look(self, script):
        """Return the value of a JavaScript expression."""
        result = await self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    async def until(self, script):
        """Wait, in the page and in those that it leads to, until an expression is true; return it."""
        looking = (
            f"let value; try {{ value = ({script}) }} catch {{ value = null }}"  # what is half loaded has no parts
        )
        waiting = f"new Promise(done => {{ const look = () => {{ {looking}; value ? done(value) : "
        for _ in range(NAVIGATIONS):
            with suppress(LookupError):  # the page was left while it was looked at
                return await self.look(waiting + "setTimeout(look, 20) }; look() })")
        raise AssertionError(f"pages go on for ever, and {script} is true in none")

    async def open(self, address, *, width=1280, height=1000, dark=False):
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        await self.call("Emulation.setEmulatedMedia", features=scheme)
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        await self.call("Page.navigate", url=address)
        await self.until("document.readyState === 'complete'")

    async def picture(self):
        """Return all of the page as a PNG."""
        result = await self.call("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(result["data"])


@asynccontextmanager
async def browser(folder):
    """Start a browser without internet; give its page."""
    process = subprocess.Popen(
        [PROGRAM, *FLAGS, NO_INTERNET, "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env={**os.environ, "HOME": str(folder)},
    )  # fmt: skip
    try:
        port = await asyncio.wait_for(asyncio.to_thread(_port, process), PATIENCE)
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                target = next(each for each in await answer.json() if each["type"] == "page")
            async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                page = Page(socket)
                listening = asyncio.ensure_future(page.listen())
                for domain in ("Runtime", "Log", "Network", "Page"):
                    await page.call(f"{domain}.enable")
                await page.call("Page.addScriptToEvaluateOnNewDocument", source=IMPATIENT)  # for what comes every 2 s
                yield page
                listening.cancel()
    finally:
        process.terminate()
        process.communicate()


def _port(process):
    for line in process.stderr:
        found = re.search(r"DevTools listening on ws://[^:]+:(\d+)/", line)
        if found:
            return int(found[1])
    raise AssertionError("the browser ended before it listened")

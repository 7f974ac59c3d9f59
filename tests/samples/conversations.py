"""A conversation of a site with a coordinator that is made up, in made-up time."""

from __future__ import annotations

import asyncio

from fedbandit.site.backoff import Backoff
from fedbandit.site.condition import Condition
from fedbandit.site.conversation import Conversation
from fedbandit.site.line import MOST_RECONNECT_SECONDS, MOST_RESEND_SECONDS
from fedbandit.transport.link import RESEND
from samples.fake_time import run_in_fake_time

PATIENCE = 1.0


class NoLots:
    """Draws no jitter, so that times are round."""

    def random(self):
        return 0.0


def backoff(first, most):
    return Backoff(first, most, NoLots())


class Exchange:
    """A site, its link and its coordinator, of which a test says what they do; it notes when what happens."""

    def __init__(self, answers=True, news_each=0.0, frames_each=0.0):
        self.answers, self.news_each, self.frames_each = answers, news_each, frames_each
        self.everything_at, self.news_at, self.connected_at, self.states = [], [], [], []
        self.arrived = None
        self.refusal = ""
        self.condition = Condition()
        self.condition.become, self._become = self.note, self.condition.become
        self.conversation = Conversation(
            self, self.connect, self.condition,
            backoff(RESEND, MOST_RESEND_SECONDS), backoff(PATIENCE, MOST_RECONNECT_SECONDS),
        )  # fmt: skip

    @property
    def now(self):
        return asyncio.get_running_loop().time()

    def hear(self, frame):
        return self.refusal

    def news(self):
        self.news_at.append(self.now)
        return [b"news"]

    def everything(self):
        self.everything_at.append(self.now)
        return [b"everything"]

    async def connect(self):
        self.connected_at.append(self.now)
        self.arrived = asyncio.Queue()
        return self

    async def send(self, frame):
        if self.answers and frame == b"everything":
            self.arrived.put_nowait(b"answer")

    async def receive(self):
        frame = await self.arrived.get()
        if frame is None:
            raise ConnectionResetError("cut")
        return frame

    async def close(self):
        pass

    def note(self, *change):
        self._become(*change)
        if self.states[-1:] != [self.condition.now]:
            self.states.append(self.condition.now)

    def fail(self, where, error, times):
        """Let one of the methods above fail so many times."""
        working, left = getattr(self, where), [error] * times

        def broken(*arguments):
            if where == "connect":
                self.connected_at.append(self.now)
            if left:
                raise left.pop()
            if where == "connect":
                self.connected_at.pop()
            return working(*arguments)

        setattr(self, where, broken)
        self.conversation._connect = self.connect

    async def each(self, seconds, action):
        while seconds:
            await asyncio.sleep(seconds)
            action()

    def run(self, seconds):
        """Let it run for so long; return what the whole took."""

        async def main():
            others = [
                asyncio.ensure_future(self.each(self.news_each, self.conversation.wake)),
                asyncio.ensure_future(self.each(self.frames_each, lambda: self.arrived.put_nowait(b"frame"))),
            ]
            asyncio.get_running_loop().call_later(seconds, self.conversation.end)
            await self.conversation.run()
            for task in others:
                task.cancel()

        return run_in_fake_time(main())[1]

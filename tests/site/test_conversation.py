"""The conversation of a site with its coordinator."""

from __future__ import annotations

import asyncio

from fedbandit.site.conversation import Conversation


class Talkative:
    """A site that always has news, and a link that counts what is sent."""

    def __init__(self):
        self.sent = []
        self.conversation = Conversation(self, self.connect, every=0.01, patience=0.01)

    async def connect(self):
        return self

    def hear(self, frame):
        raise AssertionError("nothing comes")

    def news(self):
        return [b"news"]

    def everything(self):
        return [b"everything"]

    async def send(self, frame):
        self.sent.append(frame)
        if self.sent.count(b"everything") == 3:
            self.conversation.is_over = True
        self.conversation.wake()

    async def receive(self):
        await asyncio.Event().wait()

    async def close(self):
        pass


def test_news_without_end_does_not_put_off_what_may_have_been_lost():
    site = Talkative()
    asyncio.run(asyncio.wait_for(site.conversation.run(), 30))
    assert site.sent.count(b"everything") == 3
    assert b"news" in site.sent

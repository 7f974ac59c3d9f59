"""An event loop whose clock jumps to the next thing that is due: hours pass in no time, and always the same."""

from __future__ import annotations

import asyncio
import selectors


class _Selector(selectors.DefaultSelector):
    """Moves the clock where a real one would wait."""

    now = 0.0

    def select(self, timeout=None):
        assert timeout is not None, "nothing is due any more: this would wait for ever"
        ready = super().select(0)
        if not ready:
            self.now += timeout
        return ready


class FakeTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self):
        self._fake = _Selector()
        super().__init__(self._fake)

    def time(self):
        return self._fake.now


def run_in_fake_time(main):
    """Run a coroutine; return its result and the seconds that it would have taken."""
    with asyncio.Runner(loop_factory=FakeTimeLoop) as runner:
        result = runner.run(main)
        return result, runner.get_loop().time()

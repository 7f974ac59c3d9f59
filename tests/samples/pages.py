"""The status page in a browser: what it tells, and how a test reads it."""

from __future__ import annotations

NOW = 1000.0
LIVE = "document.getElementById('live').dataset.state === 'current'"
TEXT = "document.querySelector('main').innerText"


class World:
    """What the pages tell, and when; a test changes it while the page is open."""

    def __init__(self, *federations):
        self.federations = list(federations)
        self.now = NOW
        self.problem = ""
        self.is_active = True


def words(page):
    return page.look(TEXT)


def table(page):
    return page.look(
        "[...document.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.innerText.trim()))"
    )

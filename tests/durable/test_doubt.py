"""A site that was opened again and waits for the word of its coordinator: its store stays small all the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.durable.site.client import DurableClient
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import encode_state
from samples.pair import NO_LOTS, charter, offer, open_server, to_server, to_sites

NEVER = 10**9
STORIES = {
    "nothing was lost": (False, False, False),
    "an old backup, of which nobody told": (True, False, False),
    "an old backup, as was told": (True, True, False),
    "no backup, but somebody says so": (False, True, False),
    "an old backup, and restored again in doubt": (True, False, True),
}


class Story:
    """A site with a past, opened again offline, that learns for long before it hears from its coordinator."""

    def __init__(self, of, is_old, is_told, is_told_again, snapshot_every):
        self.of, self.every, self.seeds = of, snapshot_every, iter(range(10_000))
        self.journal, self.server = MemoryJournal(), open_server(of)
        self.others = [DurableClient(of, number, fresh=50) for number in range(1, of.setting.clients)]
        self.site = self.opened(100)
        self.play(7)
        self.meet()
        backup = MemoryJournal()
        backup.fill_from(self.journal)
        self.play(5)
        if is_old:
            self.meet()
            self.journal = backup
        self.site = self.opened(200, restored=is_told)
        self.play(23)
        self.site = self.opened(300, restored=is_told_again)
        self.play(18)
        self.late = [self.choose() for _ in range(3)]
        self.site = self.opened(400)
        self.play(9)

    def opened(self, fresh, **more):
        return DurableClient(self.of, 0, fresh=fresh, journal=self.journal, snapshot_every=self.every, **more)

    def choose(self):
        return self.site.choose(offer(next(self.seeds)), NO_LOTS)[0]

    def play(self, turns):
        for turn in range(turns):
            self.site.learn(self.choose(), float(turn % 2))
            self.site.maintain()

    def meet(self):
        """Let all sites and the coordinator talk until there is nothing more to say."""
        for _ in range(6):
            for site in [self.site, *self.others]:
                to_server(self.server, site.resend())
            to_sites(dict(enumerate([self.site, *self.others])), self.server.commit())

    @property
    def outcome(self):
        """All that there is to know of the site and of the coordinator."""
        return known(self.site), encode_state(self.server.node.memory), self.site.resend()


def known(site):
    """All that a site remembers, and what its pending decisions are learnt from, wherever the journal keeps that."""
    pending = {name: replace(each, position=0) for name, each in site.life.decisions.pending.items()}
    return encode_state([replace(site.life.memory(), awaiting=np.zeros(0)), pending])


def told(of, story, snapshot_every):
    return Story(of, *STORIES[story], snapshot_every)


ALGORITHMS = [charter(), charter(upload_threshold=3.0), charter("fldb-ogd"), charter("sync-linucb", sync_threshold=0.1)]


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("of", ALGORITHMS, ids=["each turn", "some turns", "duels", "rounds"])
def test_snapshots_in_doubt_change_nothing(story, of):
    plain, often = told(of, story, NEVER), told(of, story, 4)
    assert known(often.site) == known(plain.site)
    for each in (plain, often):
        each.meet()
        assert [each.site.learn(name, 1.0) for name in each.late] == [True] * 3
        each.meet()
    assert often.outcome == plain.outcome
    assert often.site.unchecked is None


@pytest.mark.parametrize("story", STORIES)
def test_a_store_in_doubt_keeps_few_records(story):
    often = told(charter(upload_threshold=np.inf), story, 4)
    often.play(200)
    assert often.site.unchecked is not None
    assert len(list(often.journal.records())) < 15


def test_what_a_reopened_site_keeps_is_bounded_and_opened_quickly(tmp_path):
    of = charter(upload_threshold=np.inf)

    def opened(fresh):
        return DurableClient(of, 0, fresh=fresh, journal=SqliteJournal(tmp_path / "site.db"))

    site = opened(1)
    for life in range(2, 5):
        site.journal.close()
        site = opened(life)
        for turn in range(700):
            site.learn(site.choose(offer(turn), NO_LOTS)[0], 1.0)
            site.flush()
            site.maintain()
    assert site.unchecked is not None
    kept = [entry for entry in site.journal.records() if entry.position > site.journal.snapshot().position]
    assert len(kept) <= 512
    assert (site.life.node.state.rows.fresh == 2100).all()
    site.journal.close()
    assert (tmp_path / "site.db").stat().st_size < 1_000_000


def test_a_backup_made_in_doubt_is_restored_as_one_without_snapshots_is():
    def restored(snapshot_every):
        story = told(charter(), "nothing was lost", snapshot_every)
        backup = MemoryJournal()
        backup.fill_from(story.journal)
        story.meet()
        story.play(4)
        story.meet()
        story.journal = backup
        story.site = story.opened(900, restored=True)
        story.play(6)
        story.meet()
        return story.outcome

    assert restored(3) == restored(NEVER)


def test_frames_that_move_to_another_epoch_keep_their_order_and_bodies():
    story = told(charter(), "nothing was lost", NEVER)
    outbox = story.site.life.outbox
    before = {key: Frame.from_bytes(data) for key, data in outbox.frames.items()}
    epoch, first = story.site.unchecked
    outbox.move(epoch, first, 777, asks=False)
    after = [Frame.from_bytes(data) for data in outbox.frames.values()]
    assert [each.body for each in after] == [each.body for each in before.values()]
    moved = [each for each in after if each.epoch == 777]
    assert [each.sequence for each in moved] == list(range(1, len(moved) + 1))
    assert all(each.kind is Kind.UPLOAD for each in moved)
    assert len(moved) == sum(key[0] == epoch and key[1] >= first for key in before)
    assert np.all([key in outbox.frames for key in outbox.new])

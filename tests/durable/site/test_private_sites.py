"""What a private site does when it ends, is restored or copied: the same bytes again, or a stream of its own."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.algorithms.linear.shared.private_messages import Prefix
from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.durable.site.release_mark import MarkInFile, MarkInMemory
from fedbandit.durable.site.release_noise import SystemNoise
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind
from samples.pair import asking, charter, copy_of, exchange, open_server, open_site, turn

PRIVATE = {"name": "private-linucb", "epsilon": 1.0, "context_bound": 2.0, "schedule": "own-count", "batch": 3}


def opened(of, journal, mark=None, **more):
    return open_site(of, journal=journal, mark=mark, **more)


def prefixes(frames):
    """The releases among frames."""
    read = [frame for frame in map(Frame.from_bytes, frames) if frame.kind is Kind.UPLOAD]
    return [(frame.body, each) for frame in read if isinstance(each := decode(frame.body), Prefix)]


def stream_of(site):
    return site.life.releases.stream


def learn(site, turns, first=0):
    for seed in range(first, first + turns):
        turn(site, seed)


def test_a_release_that_was_made_before_a_crash_is_the_same_after_it():
    of, journal = charter(**PRIVATE), MemoryJournal()
    site = opened(of, journal)
    learn(site, 3)
    made = [body for body, _ in prefixes(site.life.outbox.unacknowledged())]
    journal.sync()
    journal.crash(survivors=0)  # before anything could leave
    again = opened(of, journal)
    assert stream_of(again) == stream_of(site)
    assert [body for body, _ in prefixes(again.life.outbox.unacknowledged())] == made
    server = open_server(of)
    asking(server, [again])
    assert server.node.state.observations.tolist() == [3]


def test_a_release_whose_acknowledgement_was_lost_is_sent_again_as_it_was():
    of, journal = charter(**PRIVATE), MemoryJournal()
    site = opened(of, journal)
    learn(site, 3)
    ((first, _),) = prefixes(site.commit())
    for _ in range(3):
        assert [body for body, _ in prefixes(site.resend())] == [first]
    again = opened(of, journal)
    assert [body for body, _ in prefixes(again.resend())] == [first]


def test_noise_is_in_the_journal_before_the_release_leaves():
    of, journal = charter(**PRIVATE), MemoryJournal()
    site = opened(of, journal)
    learn(site, 3)
    (_, message), = prefixes(site.commit())  # fmt: skip
    state = opened(of, copy_of(journal)).life.node.state
    sums = of.build_for(0).clients.noised
    gram, moment = sums.noise(1, state.normals[0])
    np.testing.assert_array_equal(message.gram[0], state.gram[0] + gram)
    np.testing.assert_array_equal(message.moment[0], state.moment[0] + moment)


def test_a_restart_goes_on_with_its_stream():
    of, journal, mark, server = charter(**PRIVATE), MemoryJournal(), MarkInMemory(), open_server(charter(**PRIVATE))
    site = opened(of, journal, mark)
    learn(site, 4)
    asking(server, [site])
    again = opened(of, journal, mark)
    learn(again, 2, first=4)
    asking(server, [again])
    assert stream_of(again) == stream_of(site)
    assert server.node.state.release.tolist() == [2]
    assert server.node.state.observations.tolist() == [6]


@pytest.mark.parametrize("way", ["said", "behind its mark", "without a mark"])
def test_a_restored_site_begins_a_stream_and_drops_what_its_lost_life_may_have_released(way):
    of, journal, mark, server = charter(**PRIVATE), MemoryJournal(), MarkInMemory(), open_server(charter(**PRIVATE))
    site = opened(of, journal, mark)
    learn(site, 4)
    asking(server, [site])
    pending, _ = site.choose(np.full((1, 2, 3), 0.5), np.empty((1, 0)))
    site.commit()
    backup = copy_of(journal)
    site.learn(pending, 0.5)
    learn(site, 1, first=5)
    asking(server, [site])  # a second release

    known = {"said": mark, "behind its mark": mark, "without a mark": MarkInMemory()}[way]
    again = opened(of, backup, known, restored=way == "said")
    learn(again, 3, first=7)
    asking(server, [again])
    assert stream_of(again) != stream_of(site)
    assert not again.learn(pending, 0.5), "its reward may be in a release of the lost life"
    learn(again, 3, first=10)
    exchange(server, [again])
    state = server.node.state
    kept = dict(zip(state.stream.tolist(), state.observations.tolist(), strict=True))
    assert kept == {stream_of(site): 6, stream_of(again): 6}
    assert known.read() == again.life.releases
    np.testing.assert_array_equal(again.life.node.state.version, [state.version])


def test_a_backup_that_is_restored_twice_is_known_as_one_the_second_time_too():
    of, journal, mark, server = charter(**PRIVATE), MemoryJournal(), MarkInMemory(), open_server(charter(**PRIVATE))
    site = opened(of, journal, mark)
    asking(server, [site])
    backup = copy_of(journal)
    learn(site, 3)
    site.commit()  # its first release leaves, and nobody takes it in
    opened(of, copy_of(backup), mark).commit()  # and ends before the coordinator has answered
    again = opened(of, backup, mark)
    assert again.is_closing
    learn(again, 3, first=3)
    asking(server, [again])
    assert stream_of(again) != stream_of(site)


def test_what_is_drawn_for_a_stream_that_was_left_is_not_used_again():
    of, journal, server = charter(**PRIVATE), MemoryJournal(), open_server(charter(**PRIVATE))
    site = opened(of, journal)
    learn(site, 3)
    asking(server, [site])
    old = site.life.node.state.normals[0, :2].copy()
    again = opened(of, copy_of(journal), restored=True)
    learn(again, 3, first=3)
    again.save()  # while it is in doubt
    asking(server, [again])
    learn(again, 3, first=6)
    new = again.life.node.state.normals[0, : again.life.releases.release]
    assert len(new) == 2
    assert not np.isin(new, old).any()
    reopened = opened(of, again.journal)
    np.testing.assert_array_equal(reopened.life.node.state.normals, again.life.node.state.normals)


def test_a_site_that_has_made_all_its_releases_makes_no_more_but_goes_on_to_hear():
    of = charter(**PRIVATE, releases=2)
    site, server = opened(of, MemoryJournal()), open_server(of)
    for first in range(0, 12, 3):
        learn(site, 3, first)
        asking(server, [site])
    assert site.privacy._asdict() == {
        "epsilon": 1.0, "delta": 1e-6, "spent": pytest.approx(1.0), "mu": pytest.approx(1 / 4.224678889), "made": 2,
        "left": 0,
    }  # fmt: skip
    assert server.node.state.release.tolist() == [2]
    assert site.life.node.state.version[0] == server.node.state.version == 4


def test_other_privacy_parameters_on_the_same_store_are_refused():
    journal = MemoryJournal()
    opened(charter(**PRIVATE), journal)
    with pytest.raises(InvalidInput, match="belongs to another federation, whose epsilon is"):
        opened(charter(**PRIVATE | {"epsilon": 9.0}), journal)


def test_a_site_without_a_store_begins_a_stream_whenever_it_is_opened():
    of = charter(**PRIVATE)
    sites = [opened(of, None) for _ in range(2)]
    assert stream_of(sites[0]) != stream_of(sites[1])
    server = open_server(of)
    for site in sites:
        learn(site, 3)
        asking(server, [site])
    assert sorted(server.node.state.stream.tolist()) == sorted(map(stream_of, sites))


def test_a_mark_that_is_damaged_is_none(tmp_path):
    mark = MarkInFile.beside(tmp_path / "site.db")
    mark.path.write_text('{"stream": 3')
    assert mark.read() is None


def test_a_mark_that_cannot_be_written_lets_nothing_leave(tmp_path):
    mark = MarkInFile.beside(tmp_path / "gone" / "site.db")
    with pytest.raises(InvalidInput, match=r"cannot be written .* so nothing is released: see to its folder"):
        opened(charter(**PRIVATE), MemoryJournal(), mark)


def test_the_system_draws_standard_normals_that_differ():
    source = SystemNoise()
    drawn = source.normals(20_000)
    assert abs(drawn.mean()) < 0.05
    assert abs(drawn.std() - 1.0) < 0.05
    assert len(np.unique(drawn)) == len(drawn)
    assert len({source.stream() for _ in range(100)}) == 100

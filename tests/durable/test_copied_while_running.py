"""A store that is copied while its site runs: what both hold is counted once, whoever sends it."""

import numpy as np
import pytest

from fedbandit.durable.journals.journal import MemoryJournal
from samples.pair import charter, copy_of, exchange, kinds, offer, open_server, open_site, to_server, to_sites, turn


def turns_until_sent(site, seed):
    """Let a site decide and learn until it has sealed something more; return the seeds of its turns."""
    before = len(site.life.outbox.frames)
    for number in range(seed, seed + 200):
        turn(site, number)
        if len(site.life.outbox.frames) > before:
            return range(seed, number + 1)
    raise AssertionError("it seals nothing")


@pytest.mark.parametrize("has_sent", [False, True], ids=["it has sent nothing since it was opened", "it has"])
@pytest.mark.parametrize("ends", ["goes on", "snapshot", "restart"])
def test_what_a_site_and_a_copy_made_while_it_ran_both_hold_is_counted_once(has_sent, ends):
    of = charter(upload_threshold=30.0, ridge=1.0)
    server, journal = open_server(of), MemoryJournal()
    site = open_site(of, journal=journal)
    turn(site, seed=10)
    exchange(server, [site])
    if not has_sent:
        site = open_site(of, journal=journal)
        to_server(server, site.resend())
        to_sites({0: site}, server.commit())
    turn(site, seed=20)
    assert not site.has_news, "unsent when the store is copied"
    copy = open_site(of, journal=copy_of(journal))
    to_server(server, copy.resend())
    to_sites({0: copy}, server.commit())
    turns_until_sent(copy, 250)
    to_server(server, copy.commit())
    known = server.node.state.gram.copy()
    to_sites({0: site}, [each for each in server.commit() if kinds([each]) == ["ACKNOWLEDGEMENT"]])
    assert site.is_closing
    if ends == "snapshot":
        site.save()
    if ends != "goes on":
        site = open_site(of, journal=copy_of(journal))
        assert site.is_closing, "it is in the journal"
    taken = turns_until_sent(site, 500)
    for _ in range(3):
        to_server(server, site.resend())
        to_sites({0: site}, server.commit())
    assert not site.life.outbox.frames
    new = sum(np.outer(offer(seed)[0, 0], offer(seed)[0, 0]) for seed in taken)
    unsent = site.life.node.state.rows.new_gram[0]
    assert (server.node.state.gram - known + unsent == new).all(), "what it learnt since, and nothing else"

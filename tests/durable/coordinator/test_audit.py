"""What a site, and a coordinator's journal, tell of all that has left."""

from __future__ import annotations

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.durable.coordinator.audit import audit_journal
from fedbandit.durable.journals.reading import reading
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.protocol.charter import Charter
from samples import pair
from samples.small_site import play, site


def test_a_site_shows_what_waits_with_its_numbers():
    one = site(smallest_upload=3)
    play(one, 7)
    (hello, *sums) = one.audit()
    assert (hello.kind, hello.observations, hello.contents) == ("linear.hello", 0, {})
    assert [each.observations for each in sums] == [3, 3]
    assert {each.standing for each in sums} == {"waiting"}
    assert sums[0].contents["observations"] == 3
    assert np.array(sums[0].contents["gram"]).shape == (2, 2)
    assert not one.audit().missing
    assert not one.audit().too_small


def test_a_site_tells_how_many_it_no_longer_has():
    charter = pair.charter(sites=1)
    server, one = pair.open_server(charter), pair.open_site(charter, 0)
    for seed in range(40):
        pair.turn(one, seed)
        pair.exchange(server, [one])
    found = one.audit()
    assert {each.standing for each in found} == {"acknowledged"}
    assert len(found.messages) == 32
    assert found.missing[0].startswith("8 uploads that the coordinator has acknowledged are not kept here")


def test_gradients_rest_on_all_that_was_told_before(tmp_path):
    charter = Charter.named("fedglb-ucb", Setting(clients=2, arms=2, dimension=3, horizon=100), sync_threshold=0.0)
    journal = SqliteJournal(tmp_path / "all.db", keep_log=True)
    server, sites = pair.open_server(charter, journal), [pair.open_site(charter, number) for number in range(2)]
    for seed in range(6):
        pair.turn(sites[seed % 2], seed)
        pair.exchange(server, sites)
    journal.close()
    with reading(str(tmp_path / "all.db"), "all") as rows:
        found = audit_journal(rows)
    for number in range(2):
        told = 0
        for each in found.of_site(number):
            told += each.observations if each.kind == "glm.statistics" else 0
            if each.kind == "glm.gradient":
                assert each.observations == told
    assert "glm.gradient" in {each.kind for each in found}


def test_a_journal_of_a_federation_that_was_changed_holds_uploads_against_the_least_number(tmp_path):
    charter = Charter.named("async-linucb", Setting(1, 2, 3, 100), smallest_upload=2, upload_threshold=1.0)
    journal = SqliteJournal(tmp_path / "all.db", keep_log=True)
    server, one = pair.open_server(charter, journal), pair.open_site(charter, 0)
    for seed in range(4):
        pair.turn(one, seed)
        pair.exchange(server, [one])
    journal.close()
    with reading(str(tmp_path / "all.db"), "all") as rows:
        found = audit_journal(rows)
    assert [each.observations for each in found if each.observations] == [2, 2]
    assert {each.smallest_upload for each in found} == {2}
    assert not found.too_small

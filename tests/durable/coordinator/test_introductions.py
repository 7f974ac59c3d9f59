"""A site introduces itself when it asks: by the fingerprint of its charter, with its backlog."""

from dataclasses import replace

import numpy as np
import pytest

from fedbandit.core.algorithm import Setting
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.protocol.charter import Charter
from fedbandit.wire.frame import Frame, Kind, with_numbers
from samples.pair import ARMS, NO_LOTS, charter, kinds, open_server, open_site, to_sites, turn

ASYNC = charter()


def receive(server, frames):
    return [server.receive(frame, 0.0, 0) for frame in frames]


def test_the_first_upload_of_a_site_that_has_not_asked_waits_and_is_sent_again_as_soon_as_it_has():
    server, site = open_server(ASYNC), open_site(ASYNC)
    turn(site)
    (verdict,) = receive(server, site.commit())
    assert verdict.outcome is Outcome.NOT_YET
    assert not site.has_news
    to_sites({0: site}, server.commit())
    assert site.has_news, "no half minute is waited for"
    asked = site.commit()
    assert kinds(asked) == ["ASK"]
    receive(server, asked)
    to_sites({0: site}, server.commit())
    again = site.commit()
    assert kinds(again) == ["UPLOAD"]
    assert [verdict.outcome for verdict in receive(server, again)] == [Outcome.ACCEPTED]
    to_sites({0: site}, server.commit())
    assert not site.life.outbox.frames
    assert not site.has_news


def test_a_coordinator_that_was_started_again_still_knows_the_epochs_that_it_has_uploads_of():
    server, site = open_server(ASYNC), open_site(ASYNC)
    turn(site)
    receive(server, site.resend())
    server.commit()
    again = open_server(ASYNC, server.journal)
    turn(site, seed=1)
    assert [verdict.outcome.value for verdict in receive(again, site.commit())] == ["repeated", "accepted"][1:]


STRANGERS = {
    "another algorithm": Charter.named("sync-linucb", ASYNC.setting),
    "other parameters": charter(ridge=3.0),
    "another number of clients or another dimension": Charter.named(
        "async-linucb", Setting(2, 2, 5, 100), upload_threshold=1.0, download_threshold=1.0
    ),
}


@pytest.mark.parametrize("difference", STRANGERS)
def test_a_site_with_another_charter_is_told_so_and_loses_nothing(difference):
    server, journal = open_server(ASYNC), MemoryJournal()
    site = open_site(STRANGERS[difference], journal=journal)
    name, _ = site.choose(np.ones((1, ARMS, site.charter.setting.dimension)), NO_LOTS)
    site.learn(name, 0.5)
    question, *uploads = site.resend()
    assert server.receive(question, 0.0, 0).outcome is Outcome.ACCEPTED
    ((concern),) = server.concerns
    assert (concern.kind, concern.site) == ("another-charter", 0)
    assert concern.text.startswith(f"site 0 has {difference} than this federation")
    verdicts = [server.receive(upload, 0.0, 0) for upload in uploads]
    assert [(verdict.outcome, verdict.reason) for verdict in verdicts] == [(Outcome.NOT_YET, concern.text)] * len(
        uploads
    )
    to_sites({0: site}, server.commit())
    assert len(site.life.outbox.frames) == len(uploads)
    assert site.refusal == (concern.text if uploads else "")
    right = open_site(ASYNC)
    server.receive(right.resend()[0], 1.0, 0)
    assert not list(server.concerns), "it is over when the site comes with the right one"


def asked(server, site):
    receive(server, [site.resend()[0]])
    to_sites({0: site}, server.commit())
    return site.disagreement


def test_a_site_with_another_charter_hears_which_field_differs_until_that_is_over():
    journal, site = MemoryJournal(), open_site(ASYNC)
    for _ in range(3):
        assert asked(open_server(charter(ridge=3.0), journal), site).startswith(
            "ridge is 0.1 here and 3.0 in the federation: open the site with the federation's"
        )
    turn(site)
    assert asked(open_server(charter(ridge=3.0), journal), site)
    server = open_server(ASYNC)
    assert asked(server, site) == ""
    assert asked(server, open_site(ASYNC)) == ""


def test_whoever_asks_for_the_charter_is_told_it_and_nothing_is_written():
    server = open_server(ASYNC, limits=Limits(bounds=Bounds(reward=2.0)))
    before = list(server.journal.records(0))
    (verdict,) = receive(server, [Frame(Kind.JOIN, 0, 0, 0).to_bytes()])
    ((site, answer),) = server.commit()
    told = Charter.from_text(Frame.from_bytes(answer).body.decode())
    assert (verdict.outcome, site, told, told.limits) == (Outcome.ACCEPTED, 0, ASYNC, {"reward": 2.0})
    assert list(server.journal.records(0)) == before
    assert receive(server, [answer])[0].reason == "a site may not send a frame of kind charter"
    assert [each.outcome for each in receive(server, [Frame(Kind.JOIN, 1, 0, 0).to_bytes()])] == [Outcome.REFUSED]


@pytest.mark.parametrize("body", [b"", b"{}", b'{"algorithm": "none", "parameters": {}, "setting": {}}', bytes(9)])
def test_a_charter_that_is_none_changes_nothing(body):
    site = open_site(ASYNC)
    with pytest.raises(ProtocolError, match="the charter of the federation is not known here"):
        site.receive(Frame(Kind.CHARTER, 0, 0, 0, body).to_bytes())
    assert site.disagreement == ""


def test_sizes_that_an_algorithm_need_not_know_are_told_and_no_more():
    of = Charter.named("async-linucb", Setting(2, 1, 3, 1), upload_threshold=1.0, download_threshold=1.0)
    server, site = open_server(ASYNC), open_site(of)
    turn(site)
    assert [verdict.outcome for verdict in receive(server, site.resend())] == [Outcome.ACCEPTED] * 2
    ((concern),) = server.concerns
    assert "another number of arms or another horizon" in concern.text


def test_a_question_tells_how_many_uploads_wait():
    server, site = open_server(ASYNC), open_site(ASYNC)
    for seed in range(3):
        turn(site, seed)
    server.receive(site.resend()[0], 0.0, 0)
    assert server.backlogs == {0: 3}
    receive(server, site.resend())
    to_sites({0: site}, server.commit())
    server.receive(site.resend()[0], 0.0, 0)
    assert server.backlogs == {0: 0}


def test_a_site_of_the_first_version_need_not_introduce_itself_and_is_answered_in_its_layout():
    server, site = open_server(ASYNC), open_site(ASYNC)
    turn(site)
    old = Frame.from_bytes(site.commit()[0])
    old = Frame(old.kind, old.client, old.epoch, old.sequence, old.body, is_old=True)
    assert server.receive(old.to_bytes(), 0.0, 0).outcome is Outcome.ACCEPTED
    assert [frame[0] for _, frame in server.commit()] == [Kind.ACKNOWLEDGEMENT]
    server.save()
    server = open_server(ASYNC, server.journal)
    other = open_site(ASYNC, 1)
    turn(other, seed=1)
    server.receive(other.resend()[0], 0.0, 1)
    server.receive(other.commit()[0] if other.has_news else other.resend()[1], 0.0, 1)
    answers = {(site, Frame.from_bytes(frame).kind): Frame.from_bytes(frame).is_old for site, frame in server.commit()}
    assert answers[0, Kind.DOWNLOAD], "it is remembered across restarts"
    assert not answers[1, Kind.DOWNLOAD]
    ask = with_numbers(Kind.ASK, 0, 0, 0, old.epoch, 0, old.epoch, is_old=True)
    server.receive(ask.to_bytes(), 0.0, 0)
    assert all(Frame.from_bytes(frame).is_old for _, frame in server.commit())
    close = with_numbers(Kind.CLOSE, 0, old.epoch, 2, old.epoch + 7, is_old=True)
    server.receive(close.to_bytes(), 0.0, 0)
    ((_, closed),) = server.commit()
    assert Frame.from_bytes(closed).is_old
    server.receive(site.resend()[0], 0.0, 0)
    assert not any(Frame.from_bytes(frame).is_old for _, frame in server.commit()), "a newer site in its place"


@pytest.mark.parametrize(
    ("here", "there", "told"),
    [
        ("9f" * 8, "1c" * 8, f"other features ({'1c' * 8}, here {'9f' * 8}: compare features.toml)"),
        (None, "0c" * 8, f"other features ({'0c' * 8}, here none: compare features.toml)"),
        ("9f" * 8, None, f"other features (none, here {'9f' * 8}: compare features.toml)"),
    ],
)
def test_a_site_with_other_features_is_told_so_and_its_uploads_wait(here, there, told):
    server, site = open_server(replace(ASYNC, features=here)), open_site(replace(ASYNC, features=there))
    turn(site)
    question, *uploads = site.resend()
    assert Frame.from_bytes(question).question.features == int(there or "0", 16)
    server.receive(question, 0.0, 0)
    ((concern),) = server.concerns
    assert concern.text.startswith(f"site 0 has {told} than this federation")
    assert [server.receive(upload, 0.0, 0).outcome for upload in uploads] == [Outcome.NOT_YET] * len(uploads)


def test_sites_with_the_federations_features_are_believed():
    server, site = open_server(replace(ASYNC, features="0c" * 8)), open_site(replace(ASYNC, features="0c" * 8))
    turn(site)
    assert {server.receive(frame, 0.0, 0).outcome for frame in site.resend()} == {Outcome.ACCEPTED}
    assert not list(server.concerns)

"""What a coordinator tells of a federation: from the frames that it carries, for each site, in bounded memory."""

from __future__ import annotations

import json
import sys

import numpy as np

from fedbandit.algorithms.linear.sync_linucb import Call
from fedbandit.durable.coordinator.outcome import Outcome, Verdict
from fedbandit.durable.coordinator.postbox import Leaving
from fedbandit.service.status.reasons import MOST_REASONS, OTHER_REASONS
from fedbandit.service.status.telemetry import Telemetry
from fedbandit.wire import weigh
from fedbandit.wire.frame import Frame, Kind, with_numbers
from samples.told import FULL, download, report

ACCEPTED, REPEATED = Verdict(Outcome.ACCEPTED), Verdict(Outcome.REPEATED)


def upload(client=0, sequence=1):
    return Frame(Kind.UPLOAD, client, 1, sequence, b"statistics").to_bytes()


def ask(client=0, sequence=1):
    return with_numbers(Kind.ASK, client, 1, sequence, 1, 0, 0).to_bytes()


def site(told, number, now):
    return next(each for each in told.snapshot(now)["sites"] if each["site"] == number)


def test_a_federation_that_nobody_has_joined_has_sites_without_contact(told):
    now = told.snapshot(10.0)
    assert [each["state"] for each in now["sites"]] == ["new"] * 3
    assert [each["name"] for each in now["sites"]] == ["north", "south", ""]
    assert now["totals"]["messages"] == 0
    assert (now["version"], now["journal_bytes"], now["concerns_open"]) == (0, 0, 0)


def test_uploads_that_are_accepted_together_are_told_as_each_of_them_is(told):
    other = Telemetry(told.name, told.algorithm, clients=3, now=told.began, names=("north", "south"))
    for each in (told, other):
        each.received(upload(1), Verdict(Outcome.NOT_YET, "ask first"), 4.0, sender=1)
    for client in (1, 0, 1):
        told.received(upload(client), ACCEPTED, 5.0, sender=client, scalars=10)
    other.accepted([(client, len(upload(client))) for client in (1, 0, 1)], 5.0, scalars=10)
    assert other.snapshot(6.0) == told.snapshot(6.0)
    assert {site: each.buckets(6.0, 600) for site, each in other.traffic.sites.items()} == {
        site: each.buckets(6.0, 600) for site, each in told.traffic.sites.items()
    }


def test_uploads_and_downloads_are_counted_by_site(told):
    told.received(upload(1), ACCEPTED, 5.0, sender=1, scalars=10)
    told.received(upload(1), REPEATED, 6.0, sender=1)
    told.sent(download(1, 4), 7.0)
    south = site(told, 1, 8.0)
    assert (south["uploads"], south["repeated"], south["downloads"]) == (1, 1, 1)
    assert (south["first_contact"], south["last_contact"]) == (5.0, 6.0)
    assert (south["scalars_up"], south["scalars_down"]) == (10, weigh(FULL).scalars)
    assert south["bytes_up"] == 2 * len(upload(1))
    assert south["bytes_down"] == len(download(1).data)
    assert told.totals()["messages"] == 2
    assert told.snapshot(8.0)["version"] == 4
    assert site(told, 0, 8.0)["bytes_up"] == 0


def test_traffic_over_time_holds_messages_numbers_and_bytes_of_both_directions(told):
    told.received(upload(1), ACCEPTED, 5.0, sender=1, scalars=10)
    told.received(upload(1), REPEATED, 6.0, sender=1)
    told.received(ask(1), ACCEPTED, 7.0, sender=1)
    told.sent(download(1, 4), 8.0)
    told.sent(Leaving(1, Frame(Kind.ACKNOWLEDGEMENT, 1, 1, 1, bytes(16)).to_bytes()), 9.0)
    sums = {
        "bytes_up": 2 * len(upload(1)) + len(ask(1)), "uploads": 1, "scalars": 10 + weigh(FULL).scalars,
        "bytes_down": len(download(1).data) + 21 + 16, "downloads": 1,
    }  # fmt: skip
    assert told.snapshot(10.0)["traffic"] == [{"at": 5, "sums": sums}]


def test_a_site_is_behind_until_it_says_that_it_has_the_download(told):
    told.received(ask(0, 0), ACCEPTED, 0.0)
    for number in (1, 2, 3):
        told.sent(download(0, number), 10.0 * number)
    assert (site(told, 0, 40.0)["versions_behind"], site(told, 0, 40.0)["seconds_behind"]) == (3, 30.0)
    assert (site(told, 0, 40.0)["version"], site(told, 0, 40.0)["version_sent"]) == (0, 3)
    told.received(ask(0, 2), ACCEPTED, 41.0)
    assert (site(told, 0, 41.0)["versions_behind"], site(told, 0, 41.0)["seconds_behind"]) == (1, 11.0)
    told.sent(download(0, 3), 42.0)  # sent again: it is the same version
    assert site(told, 0, 42.0)["versions_behind"] == 1
    told.received(ask(0, 3), ACCEPTED, 43.0)
    assert (site(told, 0, 44.0)["versions_behind"], site(told, 0, 44.0)["version"]) == (0, 3)


def test_the_state_of_a_site_tells_silent_from_behind_from_current(told):
    begin = 1000.0
    told.received(ask(0, 0), ACCEPTED, begin)
    told.sent(download(0, 1), begin + 1.0)
    assert site(told, 0, begin + 30.0)["state"] == "current"  # it has not had the time to confirm
    told.received(upload(0), ACCEPTED, begin + 95.0)
    assert site(told, 0, begin + 95.0)["state"] == "behind"
    assert site(told, 0, begin + 185.0)["state"] == "behind"
    assert site(told, 0, begin + 185.5)["state"] == "silent"


def test_sites_that_need_attention_come_first_and_the_list_can_be_cut(told):
    told.received(upload(1), ACCEPTED, 0.0)
    told.received(upload(0), ACCEPTED, 99.0)
    now = told.snapshot(100.0, most_sites=2)
    assert [(each["site"], each["state"]) for each in now["sites"]] == [(1, "silent"), (0, "current")]
    assert now["states"] == {"trouble": 0, "silent": 1, "behind": 0, "current": 1, "new": 1, "gone": 0}
    assert now["clients"] == 3


def test_a_site_whose_uploads_are_refused_is_in_trouble_and_not_current(told):
    told.received(upload(1), ACCEPTED, 1.0, sender=1)
    told.received(upload(1, 2), Verdict(Outcome.REFUSED, "too large"), 2.0, sender=1)
    told.received(upload(0), ACCEPTED, 2.0, sender=0)
    now = told.snapshot(3.0)
    assert [(each["site"], each["state"]) for each in now["sites"]] == [(1, "trouble"), (0, "current"), (2, "new")]
    assert [(each["kind"], each["site"], each["since"]) for each in now["concerns"]] == [("uploads-refused", 1, 2.0)]


def test_a_question_or_report_that_is_refused_is_no_lost_upload(told):
    told.received(ask(1), Verdict(Outcome.REFUSED, "no"), 2.0, sender=1)
    told.report(b"", 2.0, sender=1)
    assert told.snapshot(3.0)["concerns"] == []


def test_grave_concerns_come_first_and_the_list_can_be_cut(told):
    for site in range(3):
        for number in range(30):
            told.watch.concerns.note(f"kind-{number}", "a sentence", 1.0, site)
    told.watch.concerns.note("journal-damaged", "record 7 is damaged", 2.0)
    now = told.snapshot(3.0)
    assert now["concerns"][0]["kind"] == "journal-damaged"
    assert (now["concerns_open"], len(now["concerns"])) == (91, 50)
    assert told.problem() == "record 7 is damaged"


def test_share_and_backlog_are_told_for_each_site(told):
    told.watch.look({0: 300, 1: 100}, 1.0)
    told.watch.waiting(1, 7, 1.0)
    now = told.snapshot(2.0)["sites"]
    assert [each["share"] for each in now] == [0.75, 0.25, 0.0]
    assert [each["observations"] for each in now] == [300, 100, 0]
    assert [each["backlog"] for each in now] == [None, 7, None]


def test_peers_are_told_where_not_all_share_with_all(told):
    assert [each["peers"] for each in told.snapshot(2.0)["sites"]] == [None] * 3
    told.peers = np.array([1, 1, 0])
    assert [each["peers"] for each in told.snapshot(2.0)["sites"]] == [1, 1, 0]


def test_a_site_tells_its_backlog_with_a_question_and_one_of_an_earlier_version_does_not(told):
    told.received(with_numbers(Kind.ASK, 0, 1, 1, 1, 0, 0, 1200).to_bytes(), ACCEPTED, 1.0, sender=0)
    told.received(with_numbers(Kind.ASK, 1, 1, 1, 1, 0, 0, is_old=True).to_bytes(), ACCEPTED, 1.0, sender=1)
    now = told.snapshot(2.0)
    assert [(each["site"], each["backlog"], each["state"]) for each in now["sites"]] == [
        (0, 1200, "trouble"), (1, None, "current"), (2, None, "new"),
    ]  # fmt: skip
    assert [(each["kind"], each["site"]) for each in now["concerns"]] == [("backlog", 0)]


def test_the_revision_of_each_site_is_told(told):
    told.revision = 2
    second = (1 << 48) + 7
    told.received(with_numbers(Kind.ASK, 0, 1, 1, 1, 0, 0, 0, 5, 0, second).to_bytes(), ACCEPTED, 1.0, sender=0)
    told.received(with_numbers(Kind.ASK, 1, 1, 1, 1, 0, 0, is_old=True).to_bytes(), ACCEPTED, 1.0, sender=1)
    now = told.snapshot(2.0)
    assert now["revision"] == 2
    assert [each["revision"] for each in now["sites"]] == [1, None, None]


def test_refusals_are_counted_by_reason_without_the_numbers_in_it(told):
    for number in range(5):
        told.received(upload(0), Verdict(Outcome.REFUSED, f"upload {number} has {number / 7:g} scalars"), 1.0, sender=0)
    assert told.refusals.counts == {"upload # has # scalars": 5}
    last = {"count": 5, "at": 1.0, "site": 0, "reason": f"upload 4 has {4 / 7:g} scalars"}
    assert told.snapshot(2.0)["refusals"] == [last]
    told.received(b"", Verdict(Outcome.REFUSED, "frame cut short"), 3.0)
    assert [each["site"] for each in told.snapshot(4.0)["refusals"]] == [0, -1]


def test_a_stranger_is_counted_but_is_no_contact_of_the_site_that_it_names(told):
    told.received(upload(2), Verdict(Outcome.REFUSED, "no"), 1.0)
    told.received(b"", Verdict(Outcome.REFUSED, "frame cut short"), 1.0)
    told.received(upload(7), Verdict(Outcome.REFUSED, "no"), 1.0, sender=7)
    assert told.totals()["refused"] == 3
    assert all(each["last_contact"] is None for each in told.snapshot(2.0)["sites"])


def test_reasons_made_up_by_an_attacker_do_not_fill_the_memory(told):
    for number in range(1000):
        reason = f"bad {chr(0x4E00 + number)}"
        told.received(b"x", Verdict(Outcome.REFUSED, reason), 1.0)
    assert len(told.refusals.counts) == MOST_REASONS + 1
    assert told.refusals.counts[OTHER_REASONS] == 1000 - MOST_REASONS
    assert len(told.snapshot(1.0)["refusals"]) == MOST_REASONS + 1


def test_rounds_that_a_deadline_closed_say_who_was_left_out(told):
    told.left_out([1, 2], 50.0)
    told.left_out([], 60.0)
    now = told.snapshot(70.0)
    assert now["rounds_cut"] == [{"at": 50.0, "left_out": [1, 2]}]
    assert [each["left_out"] for each in now["sites"]] == [0, 1, 1]
    for second in range(25):
        told.left_out([1], 100.0 + second)
    assert [each["at"] for each in told.snapshot(200.0)["rounds_cut"]] == [105.0 + second for second in range(20)]


def test_a_snapshot_is_plain_data(told):
    told.received(upload(), ACCEPTED, 1.0, scalars=3)
    told.sent(download(), 1.0)
    told.report(report(5, 3, 1.0, {"red": 5}), 1.0)
    assert json.loads(json.dumps(told.snapshot(2.0))) == told.snapshot(2.0)


def test_memory_does_not_grow_with_what_happens():
    told = Telemetry("clinics", "async-linucb", clients=1, now=0.0)

    def live(hours, first):
        for second in range(first, first + hours * 3600, 600):
            told.received(upload(0, second + 1), ACCEPTED, float(second), scalars=3)
            told.sent(download(0, second + 1), float(second))

    live(800, 0)
    size = len(json.dumps(told.snapshot(800 * 3600.0, 2_592_000)))
    live(800, 800 * 3600)
    assert len(json.dumps(told.snapshot(1600 * 3600.0, 2_592_000))) < 1.1 * size
    assert sys.getsizeof(told.sites[0].pending) < 10_000


def test_of_a_signal_only_the_bytes_count(told):
    question, call = upload(1), download(1, 4, Call(1))
    told.received(question, ACCEPTED, 5.0, sender=1, uploads=0)
    told.sent(call, 6.0)
    south = site(told, 1, 7.0)
    assert (south["uploads"], south["downloads"], told.totals()["messages"]) == (0, 0, 0)
    assert (south["bytes_up"], south["bytes_down"]) == (len(question), len(call.data))
    assert south["version_sent"] == 4

"""Whatever sites send, telemetry takes it without raising, and what is shown of it are numbers."""

from __future__ import annotations

import json
import math
import struct

from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from fedbandit.durable.coordinator.outcome import Outcome, Verdict
from fedbandit.durable.coordinator.postbox import Leaving
from fedbandit.service.status.history import SPANS
from fedbandit.service.status.metrics import Metrics
from fedbandit.service.status.telemetry import Telemetry
from fedbandit.wire.frame import BODIES, LARGEST_NUMBER, OLD_BODIES, Kind
from fedbandit.wire.report import MOST_ARMS, Report
from fedbandit.wire.watched import Controlled, Watched
from samples.told import MODEL

CLIENTS = 3
SENDERS = st.one_of(st.none(), st.integers(-2, CLIENTS + 1))
TIMES = st.floats(0, 1e10)
COUNTS = st.one_of(st.integers(0, 5), st.integers(0, LARGEST_NUMBER))
OURS = ("at", "sums", "uploads", "__proto__", "")
ARMS = st.dictionaries(st.one_of(st.sampled_from(OURS), st.text(max_size=8)), COUNTS, max_size=MOST_ARMS)
SIZES = sorted({form.size for form in [*BODIES.values(), *OLD_BODIES.values()]})
ANY_BODY = st.one_of(
    st.just(MODEL), st.binary(max_size=60), *(st.binary(min_size=size, max_size=size) for size in SIZES)
)
FRAMES = st.builds(
    lambda form, kind, client, epoch, sequence, body: struct.pack(form, kind, client, epoch, sequence) + body,
    st.sampled_from(["<BQIQ", "<BIQQ"]), st.integers(0, 16 + max(Kind) + 2), st.integers(0, CLIENTS + 1),
    st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1), ANY_BODY,
)  # fmt: skip
BYTES = st.one_of(FRAMES, st.binary(max_size=60))
VERSIONS = st.one_of(st.none(), st.tuples(st.integers(0, LARGEST_NUMBER), st.integers(0, LARGEST_NUMBER)))
LEAVING = st.builds(Leaving, st.integers(-1, CLIENTS + 1), BYTES, VERSIONS, st.integers(0, 2**28))
VERDICTS = st.builds(Verdict, st.sampled_from(Outcome), st.text(max_size=20))
ANY = st.floats(allow_nan=True, allow_infinity=True)
CONTROL = st.builds(Controlled, ANY, COUNTS, COUNTS, ANY, st.one_of(st.none(), st.tuples(ANY, ANY)))
WATCHED = st.one_of(st.none(), st.builds(Watched, COUNTS, ANY, ANY, ANY, COUNTS, COUNTS, st.one_of(st.none(), CONTROL)))


@st.composite
def reports(draw):
    """A report that adds up, but for its sum of rewards, which is any number."""
    arms = {arm: count for arm, count in draw(ARMS).items() if arm.isprintable() and len(arm.encode()) <= 40}
    reward_sum = draw(st.floats(allow_nan=True, allow_infinity=True))
    report = Report(sum(arms.values()), draw(COUNTS), reward_sum, arms, watched=draw(WATCHED))
    if report.decisions + report.rewards >= 2**64:
        report = Report(0, 1, reward_sum)
    return report.to_frame(draw(st.integers(0, CLIENTS)), draw(st.integers(0, 3))).to_bytes()


EVENTS = st.one_of(
    st.tuples(st.just("received"), BYTES, VERDICTS, TIMES, SENDERS),
    st.tuples(st.just("report"), st.one_of(reports(), BYTES), TIMES, SENDERS),
    st.tuples(st.just("sent"), LEAVING, TIMES),
    st.tuples(st.just("left_out"), st.lists(st.integers(-1, CLIENTS), max_size=3), TIMES),
    st.tuples(st.just("waiting"), st.integers(0, CLIENTS - 1), st.integers(0, 2**64 - 1), TIMES),
    st.tuples(st.just("look"), st.dictionaries(st.integers(0, CLIENTS - 1), st.integers(-(2**70), 2**70)), TIMES),
)


def tell(told, event):
    what, *values = event
    if what == "received":
        data, verdict, now, sender = values
        told.received(data, verdict, now, sender=sender, scalars=1)
    elif what == "report":
        data, now, sender = values
        told.report(data, now, sender=sender)
    elif what in ("waiting", "look"):
        getattr(told.watch, what)(*values)
    else:
        getattr(told, what)(*values)


def not_json(constant):
    raise AssertionError(f"{constant} is not JSON")


def require_readable(told, now):
    for span in SPANS:
        assert json.loads(json.dumps(told.snapshot(now, span)), parse_constant=not_json)["name"] == told.name
    for family in text_string_to_metric_families(Metrics([told], lambda: now).text().decode()):
        assert all(math.isfinite(sample.value) for sample in family.samples)


@given(st.lists(EVENTS, max_size=30), st.floats(1e-9, math.inf), TIMES)
@settings(max_examples=150, deadline=None)
def test_any_frames_and_reports_leave_a_page_and_metrics_of_finite_numbers(events, largest_reward, now):
    told = Telemetry("clinics", "async-linucb", CLIENTS, 0.0, largest_reward=largest_reward)
    for event in events:
        tell(told, event)
    require_readable(told, now)


@given(st.lists(reports(), min_size=1, max_size=20))
@settings(max_examples=100, deadline=None)
def test_reports_of_any_values_are_taken_in_or_refused_and_shown_as_numbers(frames):
    told = Telemetry("clinics", "async-linucb", CLIENTS, 0.0)
    for frame in frames:
        told.report(frame, 1.0)
    now = told.snapshot(2.0)
    assert all(abs(each["sums"].get("reward_sum", 0.0)) < 1e300 for each in now["rewards_over_time"])
    assert all(each["at"] == 0 for each in now["arms_over_time"])
    require_readable(told, 2.0)


def test_the_largest_sums_that_two_sites_can_report_are_refused():
    told = Telemetry("clinics", "async-linucb", CLIENTS, 0.0)
    for site in range(2):
        frame = Report(1, 1, 1.7e308, {"red": 1}).to_frame(site, 1).to_bytes()
        assert told.report(frame, 1.0, sender=site).outcome is Outcome.REFUSED
    require_readable(told, 2.0)


def test_a_sum_beyond_the_federations_limit_of_rewards_is_refused_and_one_within_it_is_not():
    told = Telemetry("clinics", "async-linucb", CLIENTS, 0.0, largest_reward=1.0)
    verdict = told.report(Report(3, 3, 3.5, {"red": 3}).to_frame(0, 1).to_bytes(), 1.0)
    assert verdict == Verdict(
        Outcome.REFUSED, "report has 3.5 as the sum of 3 rewards: none is farther from zero than 1"
    )
    assert told.report(Report(3, 3, -3.0, {"red": 3}).to_frame(0, 1).to_bytes(), 1.0).outcome is Outcome.ACCEPTED


def test_an_arm_called_as_a_field_of_ours_is_an_arm():
    told = Telemetry("clinics", "async-linucb", CLIENTS, 0.0)
    arms = {"at": 5, "sums": 2, "uploads": 1}
    told.report(Report(8, 0, 0.0, arms).to_frame(0, 1).to_bytes(), 1000.0)
    assert told.snapshot(1001.0)["arms_over_time"] == [{"at": 1000, "sums": arms}]


def test_a_frame_cut_short_that_was_accepted_all_the_same_is_counted_as_a_strangers():
    told = Telemetry("clinics", "async-linucb", CLIENTS, 0.0)
    told.received(b"", Verdict(Outcome.ACCEPTED), 1.0)
    assert (told.strangers.last_contact, told.totals()["uploads"]) == (None, 0)


def test_a_frame_to_a_site_that_there_is_not_is_counted_as_a_strangers():
    told = Telemetry("clinics", "async-linucb", CLIENTS, 0.0)
    told.sent(Leaving(99, bytes(24), (1, 1), 7), 1.0)
    assert (told.strangers.bytes_down, told.totals()["scalars_down"]) == (24, 7)

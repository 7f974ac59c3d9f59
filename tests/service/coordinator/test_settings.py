"""What a coordinator's file says of limits, and what it leaves out."""

from __future__ import annotations

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.features.features import Features
from fedbandit.service.coordinator.settings import ServicePlan, read_plan

TEXT = """
broker = "{broker}"
[federations.clinics]
algorithm = "async-linucb"
clients = 3
dimension = 2
{limits}
"""


def plan(folder, broker, limits=""):
    (folder / "serve.toml").write_text(TEXT.format(broker=broker, limits=limits))
    return read_plan(folder / "serve.toml")


def test_sites_of_others_without_limits_are_warned_of_with_the_line_to_add(tmp_path):
    assert plan(tmp_path, "tls://broker:4222").warnings() == {
        "clinics": "no limit is set for context, reward, observations_per_second, so one site can pull the shared "
        "model as far as it likes: write limits = { context = 1.0, reward = 1.0, observations_per_second = 100 } in "
        "[federations.clinics], with numbers that hold for your data"
    }


def test_only_limits_that_are_missing_are_named(tmp_path):
    (said,) = plan(tmp_path, "tls://broker:4222", "limits = { context = 2, reward = 1 }").warnings().values()
    assert said.startswith("no limit is set for observations_per_second, so")
    assert "add observations_per_second = 100 to the limits in [federations.clinics]" in said


@pytest.mark.parametrize(
    ("broker", "limits"),
    [
        ("tls://broker:4222", "limits = { context = 2, reward = 1, observations_per_second = 5 }"),
        ("nats://127.0.0.1:4222", ""),
    ],
    ids=["all limits", "one machine"],
)
def test_nothing_is_said_where_nothing_is_missing(tmp_path, broker, limits):
    assert plan(tmp_path, broker, limits).warnings() == {}


def test_the_line_to_add_is_right(tmp_path):
    (said,) = plan(tmp_path, "tls://broker:4222").warnings().values()
    line = said.partition("write ")[2].partition(" in [")[0]
    assert plan(tmp_path, "tls://broker:4222", line).warnings() == {}


def test_traces_are_off_unless_the_file_says_so(tmp_path):
    text = TEXT.format(broker="tls://broker:4222", limits="")
    assert not plan(tmp_path, "tls://broker:4222").traces
    (tmp_path / "serve.toml").write_text(f"traces = true\n{text}")
    assert read_plan(tmp_path / "serve.toml").traces
    (tmp_path / "serve.toml").write_text(f"traces = 1\n{text}")
    with pytest.raises(InvalidInput, match="traces must be true or false, not 1: give such a value"):
        read_plan(tmp_path / "serve.toml")


def test_a_coordinator_may_stand_by_for_all_its_journals(tmp_path):
    text = TEXT.format(broker="tls://broker:4222", limits="")
    (tmp_path / "serve.toml").write_text(f'standby = true\nauthority = "keys"\n{text}')
    read = read_plan(tmp_path / "serve.toml")
    assert read.standby
    assert read.journals == ["clinics", "clinics-roster"]
    assert not plan(tmp_path, "tls://broker:4222").standby


THREE = """
broker = "tls://broker:4222"
authority = "keys"
[federations.clinics]
algorithm = "async-linucb"
clients = 3
dimension = 2
[federations.shops]
algorithm = "async-linucb"
clients = 3
dimension = 2
[federations.farms]
algorithm = "async-linucb"
clients = 3
dimension = 2
"""


@pytest.fixture
def three(tmp_path):
    (tmp_path / "serve.toml").write_text(THREE)
    return read_plan(tmp_path / "serve.toml")


def test_a_process_may_serve_some_federations_and_knows_which_are_served_elsewhere(three):
    assert three.elsewhere == frozenset()
    some = three.serving_only(["farms", "clinics", "farms"])
    assert [each.name for each in some.federations] == ["clinics", "farms"], "as they stand in the file"
    assert some.elsewhere == {"shops"}
    assert some.waiting().journals == ["clinics", "farms", "clinics-roster", "farms-roster"]
    assert list(some.warnings()) == ["clinics", "farms"]
    assert some.serving_only(["farms"]).elsewhere == {"shops", "clinics"}
    assert three.serving_only(["farms", "clinics", "shops"]) == three


def test_a_federation_that_is_not_in_the_file_cannot_be_served_alone(three):
    with pytest.raises(InvalidInput, match="unknown federation 'shop': did you mean 'shops'"):
        three.serving_only(["clinics", "shop"])


@pytest.mark.parametrize("http", [":8080", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:page", "127.0.0.1:65536"])
def test_an_address_of_the_page_needs_a_host_and_a_port(http):
    with pytest.raises(InvalidInput, match="is no address: write HOST:PORT"):
        ServicePlan(()).listening_at(http)
    assert ServicePlan(()).listening_at("[::1]:65535") == ServicePlan((), host="::1", port=65535)


def test_an_algorithm_that_forgets_is_served_with_the_length_of_its_epochs(tmp_path):
    (federation,) = plan(tmp_path, "nats://a:4222", "set = { discount = 0.5 }\nepoch_seconds = 60").federations
    assert federation.charter.epoch_at(125.0) == 2


FEATURES = '[arm]\nprice = { kind = "number", range = [0, 500] }\n'


def test_features_stand_in_a_file_beside_it_and_the_dimension_follows(tmp_path):
    (tmp_path / "features.toml").write_text(FEATURES)
    text = TEXT.format(broker="nats://a:4222", limits='features = "features.toml"').replace("dimension = 2\n", "")
    (tmp_path / "serve.toml").write_text(text)
    (federation,) = read_plan(tmp_path / "serve.toml").federations
    assert federation.charter.setting.dimension == 2
    assert federation.charter.features == Features.read(tmp_path / "features.toml").fingerprint


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, r"cannot read .*features.toml: No such file or directory"),
        ("[arm]\n", r"features.toml: no feature is declared"),
        (
            FEATURES + "cost = { kind = 'text', size = 3 }\n",
            "dimension=2, but the features have 5: leave dimension out",
        ),
    ],
)
def test_features_that_do_not_fit_are_refused(tmp_path, text, reason):
    if text is not None:
        (tmp_path / "features.toml").write_text(text)
    with pytest.raises(InvalidInput, match=rf"federations.clinics: .*{reason}"):
        plan(tmp_path, "nats://a:4222", 'features = "features.toml"')


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("set = { discount = 0.5 }", "discount=0.5 forgets when epochs end: give epoch_seconds, as in"),
        ("set = { restart_quorum = 2 }", "restart_quorum=2 is for simulations and nodes that you carry messages"),
        ("epoch_seconds = 60", "epoch_seconds=60 does nothing without a discount: give one below 1, or leave it out"),
        ("set = { discount = 0.5 }\nepoch_seconds = 0", "epoch_seconds must be a number greater than 0, not 0"),
        ("set = { discount = 0.5 }\nepoch_seconds = 'day'", "epoch_seconds must be a number greater than 0, not 'day'"),
        ("set = { discount = 0.5 }\nepoch_seconds = inf", "epoch_seconds must be a number greater than 0, not inf"),
    ],
)
def test_a_length_of_epochs_that_does_not_fit_is_refused(tmp_path, lines, reason):
    with pytest.raises(InvalidInput, match=rf"federations.clinics: {reason}"):
        plan(tmp_path, "nats://a:4222", lines)


SECURE = """
broker = "{broker}"
[federations.clinics]
algorithm = "sync-linucb"
clients = 5
dimension = 2
secure_aggregation = true
{more}
"""


def secure_plan(folder, broker="tls://broker:4222", more=""):
    (folder / "serve.toml").write_text(SECURE.format(broker=broker, more=more))
    return read_plan(folder / "serve.toml")


def test_sums_are_aggregated_securely_if_the_table_says_so_and_that_no_limits_hold_is_said_once(tmp_path):
    plan = secure_plan(tmp_path, more="limits = { context = 1.0 }")
    assert plan.federations[0].charter.smallest_cohort == 3
    assert secure_plan(tmp_path, more="smallest_cohort = 4").federations[0].charter.smallest_cohort == 4
    (said,) = plan.warnings().values()
    assert said.startswith(
        "secure_aggregation hides what one site sends, so that limits hold for sums over sites alone"
    )


def test_without_certificates_sums_are_not_aggregated_securely(tmp_path):
    with pytest.raises(
        InvalidInput, match=r"federations\.clinics\.secure_aggregation needs certificates, by which sites"
    ):
        secure_plan(tmp_path, broker="nats://127.0.0.1:4222")

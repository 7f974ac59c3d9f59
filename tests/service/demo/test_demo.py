"""What the parts of `fedbandit up` are told."""

from __future__ import annotations

import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.service.coordinator.settings import read_plan
from fedbandit.service.demo.worlds import NAME, Demo


@pytest.mark.parametrize(
    ("algorithm", "environment"),
    [
        ("lean-linucb", "linear"), ("async-linucb", "linear"), ("sync-linucb", "linear"), ("fldb-gd", "dueling"),
        ("fedglb-ucb", "logistic"), ("fedego-lasso", "sparse"), ("async-linucb-am", "personal"),
    ],
)  # fmt: skip
def test_the_coordinator_reads_from_the_file_what_the_sites_were_told(tmp_path, algorithm, environment):
    world = fb.environment(environment, clients=3)
    demo = Demo.of(fb.algorithm(algorithm), world, seed=4, rate=7.0)
    demo.write(tmp_path, "nats://127.0.0.1:4333", "127.0.0.1:8099")
    (federation,) = read_plan(tmp_path / "coordinator.toml").federations
    assert federation.name == NAME
    assert federation.charter.text == Demo.read(tmp_path).charter.text == demo.charter.text
    assert Demo.read(tmp_path) == demo


def test_epochs_last_as_long_as_all_sites_take_for_their_turns(tmp_path):
    world = fb.environment("drifting", clients=3, dimension=4, epoch_length=60)
    demo = Demo.of(fb.algorithm("async-linucb", discount=0.6), world, rate=2.0)
    assert demo.charter.epoch_seconds == 10.0
    demo.write(tmp_path, "nats://127.0.0.1:4333", "127.0.0.1:8099")
    (federation,) = read_plan(tmp_path / "coordinator.toml").federations
    assert federation.charter == Demo.read(tmp_path).charter == demo.charter


def test_a_discount_in_a_world_without_epochs_is_refused():
    with pytest.raises(InvalidInput, match=r"discount=0.6 forgets when epochs end, but this world has none"):
        Demo.of(fb.algorithm("async-linucb", discount=0.6), fb.environment("drifting", clients=3))


def test_restarts_are_not_for_deployments():
    with pytest.raises(InvalidInput, match="restart_quorum=2 is for simulations"):
        Demo.of(fb.algorithm("lean-linucb", restart_quorum=2), fb.environment("linear", clients=3))


def test_a_horizon_of_rounds_is_that_of_turns_divided_by_the_sites():
    world = fb.environment("dueling", clients=4)
    assert Demo.of(fb.algorithm("fldb-gd"), world).charter.setting.horizon == world.setting().horizon // 4


def test_an_algorithm_that_does_not_fit_the_world_is_refused():
    with pytest.raises(InvalidInput, match=r"fldb-gd needs .* duels, but linear has"):
        Demo.of(fb.algorithm("fldb-gd"), fb.environment("linear", clients=2))


def test_a_folder_in_which_another_demo_has_begun_is_refused(tmp_path):
    world = fb.environment("linear", clients=2)
    Demo.of(fb.algorithm("async-linucb"), world).write(tmp_path, "nats://127.0.0.1:1", "127.0.0.1:1")
    other = Demo.of(fb.algorithm("sync-linucb"), world)
    with pytest.raises(InvalidInput, match=f"{tmp_path} holds another demo"):
        other.write(tmp_path, "nats://127.0.0.1:1", "127.0.0.1:1")

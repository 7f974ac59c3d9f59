"""A cohort that does not fit into memory is refused before any of it is taken."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.simulation import in_process, room

GIB = 2**30


def test_more_clients_than_memory_has_room_for_are_refused_with_how_many_fit(monkeypatch):
    monkeypatch.setattr(room, "free_memory", lambda: GIB)
    world = fb.environment("linear", clients=999_999_999, arms=10, dimension=10)
    with pytest.raises(InvalidInput) as refused:  # not by a run, which without the check would take all memory there is
        room.require_room(fb.algorithm("lean-linucb"), world, world.setting(), world.setting().horizon)
    before, most = str(refused.value).removesuffix(" fit").split(", about ")
    assert before == "clients=999999999 do not fit into memory: take fewer"
    assert 200_000 < int(most.replace(",", "")) < 500_000


@pytest.mark.parametrize("way", ["few turns", "many turns", "lists"])
def test_as_many_as_are_said_to_fit_are_not_refused(monkeypatch, way):
    """Whether each client has a threshold of its own or not, and whether all act or not."""
    monkeypatch.setattr(room, "free_memory", lambda: 50_000_000)
    monkeypatch.setattr(in_process, "_player", lambda _: lambda *_: None)
    turns = {"few turns": 100, "many turns": 10**6, "lists": 100}[way]

    def run(clients):
        world = fb.environment("linear", clients=clients, arms=2, dimension=3)
        own = {"upload_threshold": (2.0,) * clients} if way == "lists" else {}
        return fb.run("async-linucb", world, turns=turns, **own)

    with pytest.raises(InvalidInput, match="do not fit") as refused:
        run(2_000_000)
    most = int(str(refused.value).split("about ")[1].removesuffix(" fit").replace(",", ""))
    assert run(most).clients == most
    with pytest.raises(InvalidInput, match="do not fit"):
        run(most * 6 // 5)


@pytest.mark.parametrize(("clients", "dimension", "gigabytes"), [(1_000_000, 10, 4), (10_000_000, 5, 16)])
def test_the_cohorts_of_the_benchmarks_fit(monkeypatch, clients, dimension, gigabytes):
    monkeypatch.setattr(room, "free_memory", lambda: gigabytes * GIB)
    world = fb.environment("linear", clients=clients, arms=dimension, dimension=dimension)
    room.require_room(fb.algorithm("lean-linucb"), world, world.setting(), turns=30_000_000)


def test_few_clients_are_not_asked_about(monkeypatch):
    monkeypatch.setattr(room, "free_memory", lambda: 0)
    assert fb.run("local-linucb", fb.environment("linear", clients=1000), turns=10).turns == 10


@pytest.mark.parametrize("name", [each for each in fb.algorithms if each != "private-linucb"])
def test_of_every_algorithm_whose_clients_remember_anything_it_is_known_how_much(name):
    share = room._share(fb.algorithm(name), fb.Setting(clients=10**6, arms=3, dimension=4, horizon=10))
    assert share.always >= 16  # what it has sent and received
    assert share.always + share.acting < 1_000_000


def test_only_arrays_that_nodes_hold_are_counted_and_nothing_that_they_call():
    class Node:
        rows = np.zeros(9)

        def __init__(self):
            self.known = {"own": [np.zeros(2), np.zeros(3)]}
            self.again = self.known
            self.function, self.module, self.kind = pytest.fixture, pytest, Node

    assert sum(room._sizes(Node(), set())) == 40


def test_clients_that_hardly_ever_arrive_need_no_memory(monkeypatch):
    monkeypatch.setattr(room, "free_memory", lambda: GIB)
    skewed, uniform = (
        fb.environment("linear", clients=3_000_000, arms=10, dimension=10, arrivals=each)
        for each in ("skewed", "uniform")
    )
    lean = fb.algorithm("lean-linucb")
    room.require_room(lean, skewed, skewed.setting(), turns=1_000_000)
    with pytest.raises(InvalidInput, match="do not fit into memory"):
        room.require_room(lean, uniform, uniform.setting(), turns=1_000_000)

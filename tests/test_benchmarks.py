"""The benchmark of other libraries: a fair game, and a table in the README that says what was measured."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from benchmarks import peer_game, peers
from benchmarks.__main__ import own_table
from benchmarks.peer_models import MODELS, Fedbandit, Model, blocks
from benchmarks.peer_table import BEGIN, END, README, Peer, markdown, read, store
from benchmarks.row import in_a_process

import fedbandit as fb

OURS = Peer("fedbandit", "1.0", "lean-linucb", 12.3, 9.87, 181.0, [70.0, 80.0], [8.0, 8.0], [9.0, 11.0], 0.25, 3.21)
OTHER = Peer("other", "2.0", "LinUCB", 1234.0, 40.0, 90.4, [90.0, 110.0], [9.0, 11.0])


class Absent(Model):
    """A library that nobody has."""

    package, module, name = "absent", "absent_from_everywhere", "LinUCB"


class Greedy(Model):
    """A model that plays the arm of its number of turns, and notes what it is told."""

    package, module, name = "numpy", "numpy", "in turn"
    told: ClassVar[list] = []

    def __init__(self, arms, dimension, settings, seed):
        self.arms, self.turns, self.seed = arms, 0, seed

    def prepared(self, context):
        return tuple(context)

    def choose(self, context):
        self.turns += 1
        return (self.turns - 1) % self.arms

    def learn(self, context, arm, reward):
        self.told.append((self.seed, context, arm, reward))


def test_the_readme_shows_the_table_that_is_stored():
    text = README.read_text(encoding="utf-8")
    assert text.split(BEGIN)[1].split(END)[0] == markdown(read())
    assert [each.library for each in read()] == [kind.package for kind in MODELS]


@pytest.mark.parametrize("is_pooled", [False, True])
def test_every_model_is_told_of_its_own_turns_and_regret_is_what_choices_lost(monkeypatch, is_pooled):
    monkeypatch.setattr(Greedy, "told", [])
    world = peer_game.World.drawn(0, turns=40)
    found = peer_game.play(Greedy, {}, world, is_pooled, seed=0)
    lost, turns = 0.0, [0] * peer_game.SITES
    for turn, site in enumerate(np.zeros(40, dtype=int) if is_pooled else world.site):
        arm = turns[site] % peer_game.ARMS
        turns[site] += 1
        assert Greedy.told[turn] == (site, tuple(world.context[turn]), arm, world.reward[turn, arm])
        lost += world.mean[turn].max() - world.mean[turn, arm]
    assert found.regret == pytest.approx(lost)


def test_sites_on_their_own_choose_as_the_simulation_of_sites_alone(tmp_path):
    world = peer_game.World.drawn(3, turns=200)
    arms = blocks(world.context, peer_game.ARMS)
    np.savez(tmp_path / "turns.npz", client=world.site, arms=arms, reward=world.reward, mean=world.mean)
    settings = Fedbandit.tried[-1]
    alone = fb.run("local-linucb", fb.environment("recorded", path=str(tmp_path / "turns.npz")), **settings)
    assert peer_game.play(Fedbandit, settings, world, False, 0).regret == pytest.approx(alone.regret[-1])


def test_the_game_of_others_loads_nothing_of_fedbandit():
    code = "import sys; from benchmarks import peer_game, peer_models; print(*sys.modules)"
    assert "fedbandit" not in in_a_process(code).stdout.split()


def test_all_libraries_may_try_as_many_settings():
    assert {len(kind.tried) for kind in MODELS} == {6}


def test_a_library_that_is_not_installed_is_named_and_nothing_is_stored(capsys, monkeypatch):
    monkeypatch.setattr(peers, "store", lambda found: pytest.fail("stored"))
    assert peers.main([Fedbandit, Absent], lambda kind: OURS) == 0
    said = capsys.readouterr().out
    assert "absent is not installed: pip install '.[peers]'\n" in said
    assert "nothing is stored" in said


def test_what_is_stored_is_read_again_and_the_readme_is_made_anew(tmp_path):
    file, readme = tmp_path / "peers.csv", tmp_path / "README.md"
    readme.write_text(f"before\n{BEGIN}an old table\n{END}after\n", encoding="utf-8")
    store([OURS, OTHER], file, readme)
    assert read(file) == [OURS, OTHER]
    lines = readme.read_text(encoding="utf-8").splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert "| fedbandit 1.0: lean-linucb | 12 µs | 9.9 µs | 181 MiB | 75 ± 5 | 8 |" in lines
    assert any(line.startswith("| the same, federated: 0.25 MB") and "**10 ± 1**" in line for line in lines)
    assert "| other 2.0: LinUCB | 1,200 µs | 40 µs | 90 MiB | 100 ± 10 | 10 ± 1 |" in lines
    assert "an old table" not in lines


def test_a_word_that_names_a_file_without_rows_runs_that_file():
    assert own_table("peers") is peers.main
    assert own_table("linear") is None
    assert own_table("") is None

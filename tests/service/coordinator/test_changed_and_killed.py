"""Thresholds and features change while real processes are killed: nothing is lost, and nothing counts twice."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fedbandit.cli.operating import asked_of
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import open_journal
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.durable.site.client import DurableClient
from fedbandit.protocol.forms import Forms
from fedbandit.service.coordinator.settings import read_plan
from fedbandit.service.roster.asking import NobodyThere
from fedbandit.simulation.replay import replay
from fedbandit.transport.nats.subjects import Subjects
from fedbandit.wire.state import encode_state
from samples.pair import asking
from samples.waiting import until
from service.coordinator.test_killed import SITES, TURNS, Machines
from simulation.revised_checkers import tags
from simulation.tagged import differ, tagged_turns

CHANGES = [  # programs hand in vectors as they always did, so that no dimension may come back with another meaning
    {"dimension": TURNS + 5}, {"noise": "0.5"}, {"drop": "0"}, {"ridge": "0.5", "dimension": TURNS + 8},
]  # fmt: skip


def change(machines, number):
    """Make a change as soon as there is a coordinator; one that was made, and not answered, is not made twice."""
    plan = read_plan(machines.coordinator.file)
    values = {name: str(each) for name, each in CHANGES[number].items()}

    def is_made():
        if machines.coordinator.process.poll() is not None:
            machines.coordinator.start()
        try:
            if asked_of(plan, Subjects("tagged").charter, {"do": "show"})["revision"] > number:
                return True
            return asked_of(plan, Subjects("tagged").charter, {"do": "change", "values": values})
        except NobodyThere:
            return False

    until(is_made, f"the change {values}")


def check(machines):
    """Compare what the journals hold with what the applications have written down, with the features of today."""
    journal = open_journal(machines.journal, "tagged", keep_log=True)
    server = DurableServer(machines.charter, journal, epoch=1, now=0.0)
    stores = [SqliteJournal(machines.folder / f"site-{number}.db") for number in range(SITES)]
    sites = [DurableClient(machines.charter, number, fresh=1 << 61, journal=each) for number, each in enumerate(stores)]
    asking(server, sites)  # whoever was ended before it had heard of the last change hears of it now
    assert server.agreed.count == len(CHANGES)
    assert [site.revisions for site in sites] == [len(CHANGES)] * SITES
    forms, turns = Forms(server.agreed), tagged_turns(machines.seed, TURNS, SITES)
    rows = [site.life.node.state.rows for site in sites]
    found_gram = server.node.state.gram + sum(row.new_gram[0] for row in rows)
    found_moment = server.node.state.moment + sum(row.new_moment[0] for row in rows)
    gram, moment = np.zeros_like(found_gram), np.zeros_like(found_moment)
    for number in range(SITES):
        diary = (machines.folder / f"diary-{number}.jsonl").read_text().splitlines()
        for entry in {each["turn"]: each for each in map(json.loads, diary)}.values():
            arm = forms.fitted(turns.features[entry["turn"], entry["arm"]], 0)
            gram += np.outer(arm, arm)
            moment += turns.outcomes.payoff[entry["turn"], entry["arm"]] * arm
    places = tags(forms, machines.charter.setting.dimension)
    assert np.rint(np.diagonal(found_gram)[places]).tolist() == [1.0] * TURNS
    assert not differ(machines.charter, found_gram, gram, is_all_there=True)
    assert not differ(machines.charter, found_moment, moment, is_all_there=True)
    assert encode_state(replay(machines.charter, journal.records()).state) == encode_state(server.node.state)
    for each in [journal, *stores]:
        each.close()


def survive(folder, seed):
    rng = np.random.default_rng([seed, 10])
    machines = Machines(folder, seed)
    victims = ["broker", "coordinator", *range(SITES)]
    try:
        machines.start()
        for number, at in enumerate(np.linspace(4, TURNS - 4, len(CHANGES)).astype(int).tolist()):
            until(lambda at=at: machines.done() >= at, f"turn {at}")
            victim = victims[int(rng.integers(len(victims)))]
            if rng.random() < 0.5:
                machines.kill(victim)
            change(machines, number)
            if rng.random() < 0.5:
                machines.kill(victim)
        machines.come_to_rest()
        assert machines.stop() == [0] * (SITES + 1)
        check(machines)
    finally:
        machines.end()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 12, 13, 14])  # but for clustered-linucb
def test_whoever_is_killed_while_the_charter_changes_nothing_is_lost_and_nothing_counts_twice(tmp_path, seed):
    survive(tmp_path, seed)

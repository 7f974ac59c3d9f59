"""A site of a deployed federation is forgotten: its coordinator is stopped, forgets it, and is started again."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import open_journal
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.replay import replay
from fedbandit.wire.state import encode_state
from samples.deployed import PROGRAM, all_is_sent, open_sites
from samples.waiting import until

TABLE = {
    "algorithm": "async-linucb", "clients": 3, "dimension": 2, "arms": 2, "horizon": 1, "keep_log": True,
    "set": {"upload_threshold": 1.0, "smallest_upload": 1, "download_threshold": 1.0},
}  # fmt: skip


def forget(coordinator, site):
    command = [*PROGRAM, "forget", "demo", str(site), "--file", str(coordinator.file)]
    return subprocess.run([*command, "--folder", str(coordinator.folder)], check=False, capture_output=True, text=True)


def versions(coordinator):
    (told,) = json.loads(coordinator.asked("status.json"))["federations"]
    return told["version"], [(site["version"], site["versions_behind"]) for site in told["sites"]]


@pytest.mark.slow
def test_all_others_have_a_model_without_it_and_it_is_barred(tmp_path, serve, broker):
    coordinator = serve({"demo": TABLE})
    sites = open_sites(TABLE)
    for site in sites:
        site.connect(f"{broker.url}/demo", every=0.3, patience=0.1)

    def play(which, arm):
        for number in which:
            sites[number].learn(sites[number].choose(np.eye(2)[[arm]]), 1.0)
        until(lambda: all_is_sent([sites[number] for number in which]), "acknowledgements")

    play([0, 2], arm=0)
    play([1], arm=1)
    refused = forget(coordinator, 1)
    assert refused.returncode == 2
    assert "another process has it open: end that one" in refused.stderr
    assert coordinator.stop() == 0
    done = forget(coordinator, 1)
    assert done.returncode == 0, done.stderr
    coordinator.start().wait(times=2)
    sites[1].learn(sites[1].choose(np.eye(2)[[1]]), 1.0)
    until(lambda: sites[1].refused, "a refusal")
    assert "site 1 was forgotten" in str(sites[1].refused)
    play([0, 2], arm=0)
    until(lambda: all(behind == 0 for _, behind in (versions(coordinator)[1][each] for each in (0, 2))), "the model")
    for number in (0, 2):
        gram = sites[number].node.life.node.state.rows.gram[0]
        assert gram[1, 1] == 0, "nobody but the site has ever chosen that arm"
        sites[number].choose(np.eye(2)[[0]])
    for site in sites:
        site.close()
    assert coordinator.stop() == 0
    journal = open_journal(str(tmp_path / "journals"), "demo", keep_log=True)
    charter = Charter.named("async-linucb", sites[0].charter.setting, **TABLE["set"])
    server = DurableServer(charter, journal, epoch=1, now=0.0)
    assert server.accounts.observations == {0: 2, 2: 2}
    assert (server.node.state.gram == np.diag([4.0, 0.0])).all()
    assert encode_state(replay(server.charter, journal.records()).state) == encode_state(server.node.state)
    journal.close()

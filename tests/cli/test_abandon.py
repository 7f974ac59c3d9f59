"""`fedbandit abandon`: what it does, what it says, and what it refuses."""

from __future__ import annotations

from fedbandit.durable.journals.sqlite import SqliteJournal
from samples import pair
from samples.secure_pair import SECURE, stuck

FILE = """
broker = "tls://127.0.0.1:1"
[federations.demo]
algorithm = "sync-linucb"
clients = 4
dimension = 3
arms = 2
horizon = 100
{more}
set = {{ sync_threshold = 1.0 }}
"""


def prepare(folder, more="secure_aggregation = true"):
    (folder / "coordinator.toml").write_text(FILE.format(more=more))
    (folder / "journals").mkdir()
    return SqliteJournal(folder / "journals" / "demo.db")


def test_a_sum_that_waits_for_lost_sites_is_given_up(fedbandit, tmp_path):
    journal = prepare(tmp_path)
    server, _ = stuck(journal)
    server.save()
    journal.close()
    said = fedbandit("abandon", "demo")
    assert said.code == 0, said.err
    assert said.out == (
        "the secure aggregation of demo is given up, which waited for sites 2, 3. Sites whose part in it is lost: 0, "
        "1, and any that has answered since; the others keep theirs. Start the coordinator: it tells all\n"
    )
    journal = SqliteJournal(tmp_path / "journals" / "demo.db")
    assert pair.open_server(SECURE, journal).node.state.gathering.abandoned == 1
    journal.close()
    said = fedbandit("abandon", "demo")
    assert said.code == 2
    assert "no secure aggregation waits for answers that no deadline goes on without" in said.err


def test_what_it_refuses(fedbandit, tmp_path):
    journal = prepare(tmp_path, more="")
    pair.open_server(pair.charter("sync-linucb", 4, sync_threshold=1.0), journal)
    journal.close()
    assert "this federation has no secure_aggregation: there is nothing to abandon" in fedbandit("abandon", "demo").err
    assert "unknown federation 'dem'" in fedbandit("abandon", "dem").err
    (tmp_path / "journals" / "demo.db").unlink()
    assert "there is no journal of 'demo'" in fedbandit("abandon", "demo").err

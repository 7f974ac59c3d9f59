"""Nothing of a site that was forgotten is left where the journal is stored."""

from __future__ import annotations

from fedbandit.durable.coordinator.record import ServerRecord
from fedbandit.durable.journals.journal import open_journal
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.simulation.replay import replay
from fedbandit.wire.state import encode_state
from samples import pair
from samples.forgetful import GONE, Federation, is_of


def traces(path, frames):
    """Which of some frames' bodies are in a file, or in what lies beside it."""
    data = b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*"))
    return [frame for frame in frames if frame in data]


def in_a_file(folder):
    made = Federation(journal=SqliteJournal(folder / "demo.db", keep_log=True))
    log = [ServerRecord.from_bytes(entry.data) for entry in made.journal.records()]
    frames = [record.data for record in log if is_of(record, GONE)]
    made.server.save()
    assert traces(folder / "demo.db", frames)
    return made, frames


def test_nothing_of_it_is_left_in_the_file(tmp_path):
    made, frames = in_a_file(tmp_path)
    made.forget()
    assert traces(tmp_path / "demo.db", frames) == []
    made.journal.close()
    assert traces(tmp_path / "demo.db", frames) == []


def test_nor_if_it_ended_in_the_middle_once_the_file_was_opened_again(tmp_path, monkeypatch):
    made, frames = in_a_file(tmp_path)
    monkeypatch.setattr(made.journal, "compact", lambda: None)
    made.forget()
    state = encode_state(made.server.node.state)
    made.journal.close()
    again = SqliteJournal(tmp_path / "demo.db", keep_log=True)
    assert traces(tmp_path / "demo.db", frames) == []
    assert encode_state(pair.open_server(made.charter, again).node.state) == state
    again.close()


def test_nothing_of_it_is_left_in_a_database(postgres_url):
    made = Federation(journal=open_journal(postgres_url, "erased", keep_log=True))
    made.forget()
    log = list(made.journal.records())
    assert not any(is_of(ServerRecord.from_bytes(entry.data), GONE) for entry in log)
    assert encode_state(replay(made.charter, log).state) == encode_state(made.server.node.state)
    made.journal.close()

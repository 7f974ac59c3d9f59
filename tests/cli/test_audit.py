"""`fedbandit audit`: what left the sites, in names and numbers, and what it says of what is not kept."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from cli.test_forget import CHARTER, prepare
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.simulation.replay import replay
from samples import pair


def test_every_message_is_shown_with_what_it_rests_on(fedbandit, tmp_path):
    prepare(tmp_path)
    said = fedbandit("audit", "demo")
    assert said.code == 0, said.err
    assert "linear.statistics" in said.out
    assert "gram [3 x 3] from" in said.out
    assert "9 messages of 3 sites" in said.out
    assert "not kept" not in said.out


def test_the_numbers_that_are_written_are_those_that_the_coordinator_added_up(fedbandit, tmp_path):
    records = prepare(tmp_path)
    assert fedbandit("audit", "demo", "--to", "all.json").code == 0
    messages = json.loads((tmp_path / "all.json").read_text())["messages"]
    state = replay(CHARTER, records).state
    sums = [each["contents"] for each in messages if each["kind"] == "linear.statistics"]
    assert sum(each["observations"] for each in sums) == 9
    np.testing.assert_array_equal(sum(np.array(each["gram"]) for each in sums), state.gram)
    np.testing.assert_array_equal(sum(np.array(each["moment"]) for each in sums), state.moment)


def test_one_site_can_be_asked_for_and_a_table_be_written(fedbandit, tmp_path):
    prepare(tmp_path)
    said = fedbandit("audit", "demo", "--site", "1", "--to", "one.csv", "--last", "2")
    assert "3 messages of 1 site, " in said.out
    with (tmp_path / "one.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [each["site"] for each in lines] == ["1", "1", "1"]
    assert [int(each["observations"]) for each in lines] == [1, 1, 1]
    assert len(json.loads(lines[0]["contents"])["gram"]) == 3


def test_without_a_log_it_says_what_is_not_kept(fedbandit, tmp_path):
    prepare(tmp_path, more="")
    journal = SqliteJournal(tmp_path / "journals" / "demo.db")
    server = pair.open_server(CHARTER, journal)
    server.save()
    journal.close()
    said = fedbandit("audit", "demo")
    assert said.code == 0, said.err
    assert "0 messages of 0 sites" in said.out
    assert "not kept: keep_log = true" in said.out


def test_uploads_of_too_few_are_told(fedbandit, tmp_path, monkeypatch):
    """A coordinator takes none in; what one did that was not asked to refuse them shows."""
    from fedbandit.durable import audit

    prepare(tmp_path)
    monkeypatch.setattr(audit.Sent, "is_too_small", property(lambda sent: sent.number == 1))
    said = fedbandit("audit", "demo")
    assert "3 messages rest on fewer observations than smallest_upload, the first of site 0 with number 1" in said.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nobody"], "unknown federation 'nobody': known: demo"),
        (["demo", "--to", "all.xlsx"], "neither .csv nor .json"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(fedbandit, tmp_path, arguments, sentence):
    prepare(tmp_path)
    said = fedbandit("audit", *arguments)
    assert said.code == 2
    assert sentence in said.err

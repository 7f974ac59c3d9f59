"""kill -9 of the coordinator between signing a certificate and answering: no second one is ever made."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.roster import Roster
from fedbandit.durable.inspection import inspect
from fedbandit.durable.journals.journal import open_journal
from fedbandit.durable.journals.reading import journals_at, reading
from fedbandit.service.coordinator.settings import roster_journal
from fedbandit.service.roster import asking
from fedbandit.service.roster.joining import join
from samples.roster import Rostered
from samples.waiting import until

TABLE = {"algorithm": "async-linucb", "clients": 2, "dimension": 2}
KILLED = """
import os, signal
from fedbandit.cli import main
from fedbandit.service.roster.desk import Desk

join = Desk.join

def sign_and_die(self, *given):
    join(self, *given)
    os.kill(os.getpid(), signal.SIGKILL)

Desk.join = sign_and_die
main()
"""


@pytest.mark.slow
def test_a_coordinator_that_is_killed_before_it_answers_gives_the_same_certificate_when_it_is_asked_again(
    tmp_path, monkeypatch
):
    rostered = Rostered(tmp_path, {"demo": TABLE})
    try:
        with rostered.process.log.open("w") as log:
            process = subprocess.Popen([sys.executable, "-c", KILLED, "serve", rostered.file], stderr=log)
        until(lambda: rostered.process.said("serving at"), "the coordinator")
        token = rostered.invited("demo", "north")
        monkeypatch.setattr(asking, "ANSWER_SECONDS", 5.0)
        with pytest.raises(InvalidInput, match="answers at tls"):
            join(token, tmp_path / "site")
        assert process.wait() == -9
        roster = Roster("demo", 2, open_journal(str(tmp_path / "journals"), roster_journal("demo")))
        certificate = roster.members["north"].certificate
        roster.close()
        with reading(*journals_at(str(tmp_path / "journals"), roster_journal("demo"))[0]) as rows:
            assert inspect(rows).lines[0] == "a coordinator's roster: 1 name: 1 joined"
        rostered.start()
        with pytest.raises(InvalidInput, match="used already, with another key"):
            join(token, tmp_path / "thief")
        joined = join(token, tmp_path / "site")
        assert certificate in joined.credential.read_text()
        assert (joined.number, rostered.host("demo").roster.present) == (0, {0})
        rostered.stop()
    finally:
        rostered.broker.kill()

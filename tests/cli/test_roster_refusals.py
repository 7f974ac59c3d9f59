"""What the commands of the roster refuse: one sentence, exit code 2, and nothing is changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fedbandit.service.keys.certificates import new_authority
from fedbandit.service.roster.joining import join
from fedbandit.service.roster.token import Invitation, joining_name
from samples.refusals import refused
from samples.roster import Rostered

TABLE = {"algorithm": "async-linucb", "clients": 3, "dimension": 2}


class Office(Rostered):
    """north has joined, south was revoked, east was removed, west is invited."""

    def __init__(self, folder):
        super().__init__(folder, {"demo": TABLE})
        self.start()
        self.tokens = {name: self.invited("demo", name) for name in ("north", "south", "east")}
        for name in self.tokens:
            join(self.tokens[name], folder / "sites")
        self.operate("demo", "revoke", "south")
        self.operate("demo", "remove", "east")
        self.operate("demo", "remove", "north")
        self.tokens["north"] = self.invited("demo", "north")
        join(self.tokens["north"], folder / "again")

    def made(self, authority, name="north", days=1.0):
        """Return a token that some authority signs."""
        until = datetime.now(UTC) + timedelta(days=days)
        return Invitation(self.broker.url, name, authority.issue(joining_name("demo", 32 * "0"), until)).text

    def content(self):
        """Return all that the roster knows."""
        return dict(self.host("demo").roster.members)


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    made = Office(tmp_path_factory.mktemp("office"))
    yield made
    made.stop()
    made.broker.stop()


LET_IN = "the broker at {url} does not let this token in: it was withdrawn, its site was removed or revoked, or the"
REFUSED = {
    "a token that was used": (
        lambda it: ("join", it.tokens["north"]),
        "this token was used already, with another key, and is good for one: ask for a new invitation to demo",
    ),
    "a token of another federation's authority": (lambda it: ("join", it.made(new_authority())), LET_IN),
    "a token that nobody gave": (lambda it: ("join", it.made(it.keys.open())), LET_IN),
    "a token that has expired": (
        lambda it: ("join", it.made(it.keys.open(), days=-1.0)),
        "this token has expired (",
    ),
    "a token of which a part is missing": (
        lambda it: ("join", it.tokens["north"][:-20]),
        "this is no token of `fedbandit invite`, or not all of it: copy the whole line",
    ),
    "a revoked site that joins again": (lambda it: ("join", it.tokens["south"]), LET_IN),
    "a removed site that joins again": (lambda it: ("join", it.tokens["east"]), LET_IN),
    "a name that is taken": (
        lambda it: ("invite", "demo", "north"),
        "the name 'north' is taken in demo (joined): choose another, or end that first with `fedbandit remove demo",
    ),
    "more sites than there are numbers": (
        lambda it: ("invite", "demo", "west"),
        "demo has 3 numbers for sites, and all are given or promised: invite a site that was removed or revoked",
    ),
    "a name that is none": (lambda it: ("invite", "demo", "a.b"), "'a.b' cannot name a site: begin with a letter"),
    "no days": (
        lambda it: ("invite", "demo", "south", "--days", "0"),
        "--token-days must be more than 0 and at most 36500, not 0: give days",
    ),
    "a broker that is none": (
        lambda it: ("invite", "demo", "south", "--broker", "localhost"),
        "'localhost' is no address of a broker",
    ),
    "a removal of somebody unknown": (
        lambda it: ("remove", "demo", "nobody"),
        "demo has no site 'nobody': see `fedbandit sites demo` for their names",
    ),
    "a revocation of somebody unknown": (lambda it: ("revoke", "demo", "nobody"), "demo has no site 'nobody'"),
    "a removal of somebody revoked": (lambda it: ("remove", "demo", "south"), "'south' was revoked, which is more"),
    "a federation that is not served": (lambda it: ("sites", "demi"), "unknown federation 'demi'"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_wrong_is_said_in_a_sentence_and_nothing_is_changed(fedbandit, office, tmp_path, what):
    command, sentence = REFUSED[what]
    arguments, before = command(office), office.content()
    file = () if arguments[0] == "join" else ("--file", office.file)
    refused(fedbandit(*arguments, *file), sentence.format(url=office.broker.url))
    assert office.content() == before
    assert not [each for each in tmp_path.rglob("*") if each.is_file()]

"""Tokens: what is in them, what is none, and what joining does when nobody can be asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.service.keys.certificates import new_authority
from fedbandit.service.roster.joining import join
from fedbandit.service.roster.token import Invitation, joining_name

BROKER = "tls://127.0.0.1:1"


def made(name, days=1):
    until = datetime.now(UTC) + timedelta(days=days)
    return Invitation(BROKER, name, new_authority().issue(joining_name("demo", 32 * "0"), until))


NO_TOKENS = ["", "north", "fedbandit1.", "fedbandit1.!!", "fedbandit1.eJw", "fedbandit2.abc"]


@pytest.mark.parametrize("text", NO_TOKENS)
def test_what_is_no_token_is_said_to_be_none(text):
    with pytest.raises(InvalidInput, match="this is no token of `fedbandit invite`, or not all of it"):
        Invitation.read(text)


def test_a_token_survives_broken_lines_and_no_other_damage():
    invitation = made("lines")
    text = invitation.text
    assert Invitation.read(f" {text[:50]}\n{text[50:]}\n") == invitation
    for damaged in (text[:-40], text[:100] + text[140:]):
        with pytest.raises(InvalidInput, match="copy the whole line"):
            Invitation.read(damaged)


@pytest.mark.parametrize("name", ["../../etc/north", "a.b", ""])
def test_a_token_cannot_name_a_file_elsewhere(name):
    with pytest.raises(InvalidInput, match="no token"):
        Invitation.read(made(name).text)


def test_the_credential_of_a_site_is_no_token():
    credential = new_authority().issue("demo.0", datetime.now(UTC) + timedelta(days=1))
    with pytest.raises(InvalidInput, match="no token"):
        Invitation.read(Invitation(BROKER, "north", credential).text)


def test_a_token_that_has_expired_is_refused_before_anybody_is_asked(tmp_path):
    with pytest.raises(InvalidInput, match=r"this token has expired .*: ask for a new invitation"):
        join(made("north", days=-1).text, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_credential_that_is_there_is_not_overwritten(tmp_path):
    (tmp_path / "demo.north.pem").write_text("mine")
    with pytest.raises(InvalidInput, match=r"demo\.north\.pem is there already: move it away"):
        join(made("north").text, tmp_path)
    assert (tmp_path / "demo.north.pem").read_text() == "mine"


def test_a_broker_that_is_away_costs_neither_token_nor_key(tmp_path):
    token = made("north").text
    for _ in range(2):
        with pytest.raises(InvalidInput, match=r"the broker at tls://127\.0\.0\.1:1 cannot be reached"):
            join(token, tmp_path)
        keys = [each.read_bytes() for each in tmp_path.iterdir()]
    assert [each.name for each in tmp_path.iterdir()] == ["demo.north.key"]
    assert (tmp_path / "demo.north.key").read_bytes() == keys[0]

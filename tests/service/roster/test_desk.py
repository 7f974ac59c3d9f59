"""Invitations and certificates without a network, and who is let in at the broker's door."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.roster import Roster
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.service.keys.certificates import new_authority, new_key, request_for
from fedbandit.service.roster.desk import Desk
from fedbandit.service.roster.door import Door
from fedbandit.service.roster.token import Invitation, joining_name

LATER = datetime.now(UTC) + timedelta(days=1)
BROKER = "tls://127.0.0.1:4222"


class Served:
    """A federation, as far as the desk can see."""

    def __init__(self, name):
        self.roster = Roster(name, 3, MemoryJournal())
        self.woken, self.forgotten = 0, set()

    def last_seen(self, number):
        return 7.0 if number == 0 else None

    def has_forgotten(self, number):
        return number in self.forgotten

    def wake(self):
        self.woken += 1


class Office:
    """A desk with two federations, and the door; others are served elsewhere."""

    def __init__(self, elsewhere=()):
        self.authority, self.ended = new_authority(), []
        self.served = {name: Served(name) for name in ("demo", "shops")}
        self.desk = Desk(self.authority, self.served, self.end, elsewhere)
        rosters = {name: each.roster for name, each in self.served.items()}
        self.door = Door(self.authority.doorkeeper, rosters, elsewhere)

    async def end(self, account):
        self.ended.append(account)
        return 1

    def invite(self, federation="demo", name="north", days=1.0):
        return Invitation.read(self.desk.invite(federation, name, days, 30.0, BROKER))

    def say(self, federation, **asked):
        said = asyncio.run(self.desk.answer_operator(f"fedbandit.{federation}.roster", json.dumps(asked).encode()))
        return json.loads(said)

    def knock(self, certificate):
        """Return the account into which a certificate lets somebody in, and what may be said there; or why not.

        None if nothing is said.
        """
        asked = {
            "server_id": {"id": "server"},
            "user_nkey": "user",
            "client_tls": {"verified_chains": [[certificate, self.authority.text.decode()]]},
        }
        question = b"head." + urlsafe_b64encode(json.dumps({"nats": asked}).encode()).rstrip(b"=") + b".signature"
        said = asyncio.run(self.door.answer("", question))
        if said is None:
            return None
        answer = claims(said.decode())
        assert (answer["aud"], answer["sub"]) == ("server", "user")
        if "error" in answer["nats"]:
            return answer["nats"]["error"]
        user = claims(answer["nats"]["jwt"])
        return user["aud"], user["nats"]["pub"]["allow"], user["nats"]["sub"]["allow"]


def claims(token):
    body = token.split(".")[1]
    return json.loads(urlsafe_b64decode(body + "=" * (-len(body) % 4)))


def certificate_in(credential):
    """Return the first certificate of a credential, as the broker passes it on."""
    return x509.load_pem_x509_certificates(credential)[0].public_bytes(Encoding.PEM).decode()


def decoded(text):
    """Return the bytes of all that stands in a text of keys and certificates."""
    return b"".join(b64decode(each) for each in re.findall(r"-----BEGIN [^-]+-----([^-]+)-----END", text))


@pytest.fixture(scope="module")
def office():
    return Office()


@pytest.fixture
def fresh():
    return Office()


def test_whoever_was_invited_gets_a_certificate_for_its_own_key_and_the_key_stays_where_it_is(fresh):
    invitation, key = fresh.invite(), new_key()
    member = fresh.desk.join("demo", invitation.token, request_for(key))
    certificate = x509.load_pem_x509_certificate(member.certificate.encode())
    certificate.verify_directly_issued_by(fresh.authority.certificate)
    assert certificate.public_key() == key.public_key()
    assert certificate.subject.rfc4514_string() == "2.5.4.5=0,CN=demo.north"
    assert "PRIVATE" not in member.certificate
    assert fresh.served["demo"].woken == 1


def test_the_secret_of_the_authority_is_in_nothing_that_leaves(fresh):
    invitation = fresh.invite()
    member = fresh.desk.join("demo", invitation.token, request_for(new_key()))
    secret = fresh.authority.key.private_numbers().private_value.to_bytes(32, "big")
    assert secret in decoded(fresh.authority.secret.decode())
    for left in (invitation.credential.decode(), member.certificate, fresh.authority.issue("x", LATER).decode()):
        assert secret not in decoded(left)


def test_the_same_token_and_key_get_the_same_certificate_and_another_key_gets_none(fresh):
    invitation, request = fresh.invite(), request_for(new_key())
    first = fresh.desk.join("demo", invitation.token, request)
    assert fresh.desk.join("demo", invitation.token, request) == first
    with pytest.raises(InvalidInput, match="used already, with another key"):
        fresh.desk.join("demo", invitation.token, request_for(new_key()))


def other_kind():
    key = rsa.generate_private_key(65537, 2048)
    made = x509.CertificateSigningRequestBuilder(x509.Name([])).sign(key, hashes.SHA256())
    return made.public_bytes(Encoding.PEM)


def forged():
    """A request with the key of somebody else: its signature is of another key."""
    mine, theirs = (x509.load_pem_x509_csr(request_for(new_key())).public_bytes(Encoding.DER) for _ in range(2))
    at = mine.index(b"\x03\x42\x00\x04")  # where the key stands
    made = mine[:at] + theirs[at : at + 68] + mine[at + 68 :]
    return x509.load_der_x509_csr(made).public_bytes(Encoding.PEM)


@pytest.mark.parametrize("request_of", [lambda: b"", lambda: b"no request", other_kind, forged, lambda: bytes(20_000)])
def test_a_request_that_is_none_uses_no_token_up(fresh, request_of):
    invitation = fresh.invite()
    with pytest.raises(InvalidInput, match="the request for a certificate cannot be used"):
        fresh.desk.join("demo", invitation.token, request_of())
    assert fresh.desk.join("demo", invitation.token, request_for(new_key())).number == 0


def test_a_token_of_another_federation_is_refused(fresh):
    token = fresh.invite("demo").token
    answer = asyncio.run(fresh.desk.answer_invited(f"fedbandit-joining.shops.{token}", request_for(new_key())))
    assert "this token is no invitation to shops" in json.loads(answer)["error"]
    answer = asyncio.run(fresh.desk.answer_invited(f"fedbandit-joining.nobody.{token}", request_for(new_key())))
    assert "serves no federation 'nobody'" in json.loads(answer)["error"]
    assert not fresh.served["shops"].roster.members


@pytest.mark.parametrize("days", [0.0, -1.0, float("nan"), 1e9])
def test_an_invitation_is_good_for_some_days(fresh, days):
    for given in ((days, 1.0), (1.0, days)):
        with pytest.raises(InvalidInput, match="must be more than 0 and at most 36500"):
            fresh.desk.invite("demo", "north", *given, BROKER)
    assert not fresh.served["demo"].roster.members


def test_operators_are_told_what_was_done_and_connections_are_ended(fresh):
    token = Invitation.read(fresh.say("demo", do="invite", name="north", days=1, valid=1, broker=BROKER)["token"]).token
    fresh.desk.join("demo", token, request_for(new_key()))
    assert fresh.say("demo", do="invite", name="south", days=1, valid=1, broker=BROKER)["token"]
    (north, south) = fresh.say("demo", do="sites")["sites"]
    assert (north["name"], north["number"], north["standing"], north["last_seen"]) == ("north", 0, "joined", 7.0)
    assert (south["name"], south["number"], south["standing"], south["last_seen"]) == ("south", None, "invited", None)
    assert fresh.say("demo", do="remove", name="south") == {"standing": "removed", "ended": 0}
    assert fresh.say("demo", do="revoke", name="north") == {"standing": "revoked", "ended": 1}
    assert fresh.ended == ["joining", "joining", "demo.0"]
    assert "has no site 'east'" in fresh.say("demo", do="remove", name="east")["error"]
    assert "could not do it" in fresh.say("demo", unknown="question")["error"]
    assert "this coordinator cannot 'forget'" in fresh.say("demo", do="forget", name="north")["error"]


def test_whoever_is_gone_is_sent_away_again_also_after_a_restart_and_whoever_is_back_is_not(fresh):
    fresh.desk.join("demo", fresh.invite().token, request_for(new_key()))
    fresh.say("demo", do="revoke", name="north")
    fresh.ended.clear()
    asyncio.run(fresh.desk.send_away())
    assert fresh.ended == ["demo.0"]
    restarted = Desk(fresh.authority, fresh.served, fresh.end)
    asyncio.run(restarted.send_away())
    assert fresh.ended == ["demo.0"] * 2
    restarted.join("demo", fresh.invite().token, request_for(new_key()))
    asyncio.run(restarted.send_away())
    assert fresh.ended == ["demo.0"] * 2


def test_a_site_comes_into_the_account_of_its_number_and_may_speak_as_itself_alone(fresh):
    fresh.desk.join("demo", fresh.invite(name="first").token, request_for(new_key()))
    certificate = fresh.desk.join("demo", fresh.invite().token, request_for(new_key())).certificate
    said = ["fedbandit.demo.up.1.1", "fedbandit.demo.ask.1", "fedbandit.demo.report.1"]
    assert fresh.knock(certificate) == ("demo.1", said, ["fedbandit.demo.down.1", "_INBOX.demo.1.>"])
    for end in ("remove", "revoke"):
        fresh.say("demo", do=end, name="north")
        assert fresh.knock(certificate) == "demo.north is not on the roster"


def test_whoever_was_invited_may_ask_for_a_certificate_and_nothing_else(fresh):
    invitation = fresh.invite()
    token, certificate = invitation.token, certificate_in(invitation.credential)
    allowed = "joining", [f"fedbandit-joining.demo.{token}"], [f"_INBOX.joining.demo.{token}.>"]
    assert fresh.knock(certificate) == allowed
    fresh.desk.join("demo", token, request_for(new_key()))
    assert fresh.knock(certificate) == allowed  # the answer may have been lost
    fresh.say("demo", do="remove", name="north")
    assert "is not on the roster" in fresh.knock(certificate)


@pytest.mark.parametrize("name", ["demo.3", "demo.north", "nobody.0", "demo", "broker", joining_name("demo", 32 * "0")])
def test_certificates_of_our_authority_that_are_on_no_roster_let_nobody_in(office, name):
    credential = office.authority.issue(name, LATER)
    assert office.knock(certificate_in(credential)) == f"{name} is not on the roster"


def test_a_file_of_keys_new_lets_its_site_in_until_that_is_sent_away(fresh):
    credential = certificate_in(fresh.authority.issue("demo.0", LATER))
    assert fresh.knock(credential)[0] == "demo.0"
    assert fresh.desk.join("demo", fresh.invite().token, request_for(new_key())).number == 1
    other = certificate_in(fresh.authority.issue("demo.1", LATER))
    assert fresh.knock(other) == "demo.1 is not on the roster"
    fresh.say("demo", do="revoke", name="0")
    assert fresh.knock(credential) == "demo.0 is not on the roster"


def test_a_question_that_is_none_is_not_answered(office):
    for question in (b"", b"a.b.c", b"a.e30.c"):
        assert asyncio.run(office.door.answer("", question)) == b""

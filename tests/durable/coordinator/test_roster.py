"""Who belongs to a federation: every change is in the journal first, and whoever was shut out stays out."""

from __future__ import annotations

import pytest

from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.durable.coordinator.roster import SNAPSHOT_EVERY, Roster
from fedbandit.durable.journals.journal import MemoryJournal


def invited(roster, name="north", token="token", until=100.0, now=0.0):
    return roster.invite(name, token, until=until, days=30.0, now=now)


def joined(roster, token="token", key="key", now=1.0):
    return roster.join(token, key, now=now, sign=lambda member: f"{member.name} {member.number} {member.key}")


@pytest.fixture
def roster():
    return Roster("demo", 3, MemoryJournal())


def again(roster):
    return Roster("demo", 3, roster.journal)


def test_whoever_joins_gets_the_first_number_that_is_free(roster):
    for number, name in enumerate(("north", "south", "east")):
        invited(roster, name, token=name)
        assert joined(roster, token=name).number == number
    assert roster.present == {0, 1, 2}


def test_a_token_is_good_for_one_key(roster):
    invited(roster)
    first = joined(roster)
    with pytest.raises(InvalidInput, match="used already, with another key"):
        joined(roster, key="other")
    assert roster.members == {"north": first}


def test_whoever_asks_again_with_the_same_key_gets_the_same_certificate(roster):
    invited(roster)
    first = joined(roster)
    assert joined(roster, now=1000.0) == first  # also when the token has expired meanwhile

    def never(_):
        raise AssertionError

    assert again(roster).join("token", "key", now=2.0, sign=never) == first


@pytest.mark.parametrize("survivors", [0, 1])
def test_a_power_cut_while_a_certificate_is_signed_leaves_a_token_that_can_be_used_with_the_same_key(survivors):
    journal = MemoryJournal()
    roster = Roster("demo", 3, journal)
    invited(roster)
    sync, signed = journal.sync, []

    def power_cut():
        journal.crash(survivors)
        raise KeyboardInterrupt

    journal.sync = power_cut
    with pytest.raises(KeyboardInterrupt):
        joined(roster)
    journal.sync = sync
    roster = again(roster)
    for _ in range(2):
        signed.append(roster.join("token", "key", now=2.0, sign=lambda _: f"number {len(signed)}").certificate)
    assert len(set(signed)) == 1
    assert roster.present == {0}


def test_nothing_is_known_that_could_not_be_written(roster):
    invited(roster)

    def full():
        raise OSError("no room")

    roster.journal.sync = full
    with pytest.raises(OSError, match="no room"):
        joined(roster)
    assert roster.present == set()


@pytest.mark.parametrize(
    ("token", "now", "sentence"),
    [("", 1.0, "is no invitation to demo"), ("another", 1.0, "is no invitation to demo"),
     ("token", 100.0, "this token has expired")],
)  # fmt: skip
def test_a_token_that_is_none_of_this_federation_or_has_expired_is_refused(roster, token, now, sentence):
    before = invited(roster)
    with pytest.raises(InvalidInput, match=sentence):
        joined(roster, token=token, now=now)
    assert roster.members == {"north": before}


@pytest.mark.parametrize("end", ["remove", "revoke"])
def test_an_invitation_that_is_withdrawn_is_void(roster, end):
    invited(roster)
    getattr(roster, end)("north", now=1.0)
    assert not roster.has_token("token")
    with pytest.raises(InvalidInput, match="or no longer one: ask for a new invitation"):
        joined(roster)


def test_a_name_that_is_taken_is_not_given_again(roster):
    invited(roster)
    for _ in range(2):
        with pytest.raises(InvalidInput, match="the name 'north' is taken in demo"):
            invited(roster, token="second")
        if not roster.present:
            joined(roster)
    assert roster.has_token("token")
    assert not roster.has_token("second")


def test_an_invitation_that_has_expired_can_be_made_anew(roster):
    invited(roster)
    invited(roster, token="second", now=100.0, until=200.0)
    with pytest.raises(InvalidInput, match="no invitation"):
        joined(roster, now=101.0)
    assert joined(roster, token="second", now=101.0).number == 0


@pytest.mark.parametrize("name", ["", "3", "a.b", "a b", "../north", "-north", "n" * 65, "näh"])
def test_not_everything_can_name_a_site(roster, name):
    with pytest.raises(InvalidInput, match="cannot name a site: begin with a letter"):
        invited(roster, name)
    assert not roster.members


def test_no_more_are_invited_than_there_are_numbers(roster):
    for name in ("north", "south", "east"):
        invited(roster, name, token=name)
    joined(roster, token="north")
    with pytest.raises(InvalidInput, match="demo has 3 numbers for sites, and all are given or promised"):
        invited(roster, "west")
    roster.remove("east", now=1.0)
    assert invited(roster, "west").number is None


def test_a_number_belongs_to_its_name_for_good(roster):
    for name in ("north", "south"):
        invited(roster, name, token=name)
        joined(roster, token=name)
    roster.revoke("north", now=2.0)
    invited(roster, "east", token="east")
    assert joined(roster, token="east").number == 2
    invited(roster, token="second", now=3.0)
    assert joined(roster, token="second", key="new", now=4.0).number == 0


@pytest.mark.parametrize("end", ["remove", "revoke"])
def test_whoever_was_sent_away_stays_out_after_a_restart_and_with_its_old_certificate_for_ever(roster, end):
    invited(roster)
    old = joined(roster).certificate
    assert roster.number_of("north", old) == 0
    getattr(roster, end)("north", now=2.0)
    for each in (roster, again(roster)):
        assert each.number_of("north", old) is None
        assert each.gone == {0}
        assert each.is_revoked(0) == (end == "revoke")
        assert each.has_none_of([0, 1])
    invited(roster, token="second", now=3.0)
    assert roster.number_of("north", old) is None
    assert again(roster).is_revoked(0) == (end == "revoke")  # until it is there again with a new key
    new = joined(roster, token="second", key="new", now=4.0).certificate
    assert (roster.number_of("north", old), roster.number_of("north", new)) == (None, 0)
    assert not roster.is_revoked(0)


def test_sending_away_twice_changes_nothing_and_strangers_are_named(roster):
    invited(roster)
    joined(roster)
    assert roster.remove("north", now=2.0) == roster.remove("north", now=3.0)
    assert roster.revoke("north", now=4.0) == roster.revoke("north", now=5.0)
    with pytest.raises(InvalidInput, match="'north' was revoked, which is more"):
        roster.remove("north", now=6.0)
    for act in (roster.remove, roster.revoke):
        with pytest.raises(InvalidInput, match="demo has no site 'south': see `fedbandit sites demo`"):
            act("south", now=6.0)


def test_sites_with_numbers_are_members_under_their_numbers(roster):
    roster.adopt([2, 0, 2], now=0.0)
    assert roster.number_of("2", "any certificate that names it") == 2
    invited(roster)
    assert joined(roster).number == 1
    roster.adopt([1], now=2.0)
    assert set(roster.members) == {"0", "2", "north"}
    roster.revoke("2", now=3.0)
    assert roster.number_of("2", "any certificate that names it") is None
    invited(roster, "2", token="second", now=4.0)
    member = joined(roster, token="second", now=5.0)
    assert (member.number, roster.number_of("2", "any certificate that names it")) == (2, None)


def test_a_number_that_was_promised_may_be_taken_by_a_site_that_has_it_from_before(roster):
    invited(roster)
    roster.adopt(range(3), now=0.5)
    with pytest.raises(InvalidInput, match="demo has no number left for 'north'"):
        joined(roster)
    assert roster.has_token("token")


def test_a_long_life_ends_in_a_snapshot(roster):
    invited(roster)
    joined(roster)
    for step in range(SNAPSHOT_EVERY):
        roster.remove("north", now=3.0 * step)
        invited(roster, token=str(step), until=1e9, now=3.0 * step + 1)
        joined(roster, token=str(step), now=3.0 * step + 2)
    assert roster.journal.snapshot() is not None
    assert again(roster).members == roster.members


def test_a_record_of_a_later_version_is_not_guessed_at(roster):
    roster.journal.append(b'{"name": "north", "standing": "asleep", "since": 0}')
    with pytest.raises(ProtocolError, match="is it a newer one's"):
        again(roster)

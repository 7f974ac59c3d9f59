"""A site that was forgotten, at the coordinator's desk."""

from __future__ import annotations

from fedbandit.service.keys.certificates import new_key, request_for
from service.roster.test_desk import BROKER, Office


def test_a_site_that_was_forgotten_is_not_invited_again_under_its_name():
    """It could join, and nothing that it sends would ever be taken in."""
    office = Office()
    office.desk.join("demo", office.invite().token, request_for(new_key()))
    office.say("demo", do="revoke", name="north")
    office.served["demo"].forgotten.add(0)
    before = dict(office.served["demo"].roster.members)
    asked = {"days": 1.0, "valid": 1.0, "broker": BROKER}
    said = office.say("demo", do="invite", name="north", **asked)
    assert said["error"].startswith(
        "'north' was forgotten in demo, and nothing of it is taken in any more: invite it un"
    )
    assert office.served["demo"].roster.members == before
    assert "token" in office.say("demo", do="invite", name="south", **asked)

"""Desk and door say nothing of sites whose federation another coordinator serves: the first answer counts."""

from __future__ import annotations

import asyncio
import json

import pytest

from fedbandit.service.keys.certificates import new_key, request_for
from fedbandit.service.roster.token import joining_name
from service.roster.test_desk import LATER, Office, certificate_in


@pytest.mark.parametrize("name", ["farms.0", "farms.north", "farms.x.y", joining_name("farms", 32 * "0")])
def test_nothing_is_said_of_whoever_belongs_to_a_federation_that_is_served_elsewhere(name):
    spread = Office(elsewhere={"farms"})
    certificate = certificate_in(spread.authority.issue(name, LATER))
    assert spread.knock(certificate) is None
    assert spread.knock(certificate_in(spread.authority.issue("farm.0", LATER))) == "farm.0 is not on the roster"
    assert spread.knock(certificate_in(spread.authority.issue("demo.0", LATER)))[0] == "demo.0"


def test_nobody_who_joins_elsewhere_is_told_anything():
    spread, token = Office(elsewhere={"farms"}), 32 * "0"
    assert asyncio.run(spread.desk.answer_invited(f"fedbandit-joining.farms.{token}", request_for(new_key()))) is None
    answer = asyncio.run(spread.desk.answer_invited(f"fedbandit-joining.farm.{token}", request_for(new_key())))
    assert "serves no federation 'farm'" in json.loads(answer)["error"]

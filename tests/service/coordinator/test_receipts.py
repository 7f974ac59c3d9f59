"""Receipts of what was forgotten: only a coordinator of the federation's own authority can sign one."""

import json

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.service.coordinator.receipts import signed, verified
from fedbandit.service.keys.files import Keys

RECEIPT = {"federation": "demo", "site": 1, "uploads": 3}


@pytest.fixture
def keys(tmp_path):
    made = Keys(tmp_path / "ours")
    made.new("coordinator")
    return made


def test_a_receipt_is_what_the_coordinator_signed(keys):
    assert verified(signed(RECEIPT, keys.folder / "coordinator.pem"), keys.authority) == RECEIPT


def test_without_a_key_it_is_not_signed_and_nobody_can_rely_on_it(keys):
    text = signed(RECEIPT, None)
    assert json.loads(text) == {"receipt": RECEIPT, "certificate": None, "signature": None}
    with pytest.raises(InvalidInput, match="is not signed by a coordinator of"):
        verified(text, keys.authority)


def test_a_site_cannot_sign_one(keys):
    with pytest.raises(InvalidInput, match="is not signed by a coordinator of"):
        verified(signed(RECEIPT, keys.new("demo.0")), keys.authority)


def test_nor_can_a_coordinator_of_another_authority(keys, tmp_path):
    with pytest.raises(InvalidInput, match="is not signed by a coordinator of"):
        verified(signed(RECEIPT, Keys(tmp_path / "theirs").new("coordinator")), keys.authority)

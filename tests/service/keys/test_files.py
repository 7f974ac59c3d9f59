"""Credentials in a folder: nobody but their owner can read them, and an authority that cannot be used is named."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from fedbandit.core.errors import InvalidInput
from fedbandit.service.keys.files import Keys


def test_a_credential_that_replaces_one_that_others_could_read_is_its_owners_alone(tmp_path):
    keys = Keys(tmp_path)
    path = keys.new("demo.3")
    before = path.read_bytes()
    path.chmod(0o644)
    assert keys.new("demo.3", replace=True).stat().st_mode & 0o777 == 0o600
    assert path.read_bytes() != before


def test_a_key_of_another_kind_is_no_authority(tmp_path):
    keys = Keys(tmp_path)
    keys.new("demo.3")
    other = ed25519.Ed25519PrivateKey.generate()
    keys.authority_key.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(InvalidInput, match=r"cannot be used \(its key is of another kind\): ca.pem and ca.key belong"):
        keys.new("demo.4")
    assert not keys.path("demo.4").exists()


@pytest.mark.parametrize("days", [0.0, -1.0, 36_500.5, float("nan")])
def test_a_time_that_is_no_time_makes_no_credential(tmp_path, days):
    with pytest.raises(InvalidInput, match="days must be more than 0 and at most 36500"):
        Keys(tmp_path / "keys").new("demo.3", days=days)
    assert not (tmp_path / "keys").exists()


def test_the_folder_of_keys_is_made_with_those_above_it(tmp_path):
    assert Keys(tmp_path / "of" / "ours").new("broker").exists()

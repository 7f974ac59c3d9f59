"""Sites know each other by certificates that name their federation and number."""

from __future__ import annotations

import pytest

from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.protocol.securing import CERTIFICATE_BYTES
from fedbandit.service.keys.files import Keys
from fedbandit.transport.nats.identity import CertificateIdentity


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    keys = Keys(tmp_path_factory.mktemp("keys"))
    for name in ("clinics.0", "clinics.1", "shops.1", "coordinator"):
        keys.new(name)
    return keys


@pytest.fixture(scope="module")
def sites(keys):
    return [CertificateIdentity(keys.path(f"clinics.{number}"), "clinics") for number in range(2)]


def padded(vouched):
    return vouched.ljust(64 + CERTIFICATE_BYTES, b"\0")


def test_what_one_has_signed_the_other_knows(sites):
    vouched = sites[1].sign(b"keys")
    assert len(vouched) <= 64 + CERTIFICATE_BYTES
    sites[0].check(1, b"keys", padded(vouched))


@pytest.mark.parametrize("change", [("statement", b"other keys"), ("number", 0), ("bit", 5), ("bit", 200), ("none", 0)])
def test_anything_else_is_refused(sites, change):
    vouched, number, statement = bytearray(padded(sites[1].sign(b"keys"))), 1, b"keys"
    if change[0] == "statement":
        statement = change[1]
    elif change[0] == "number":
        number = change[1]
    elif change[0] == "bit":
        vouched[change[1]] ^= 1
    else:
        vouched = bytearray(len(vouched))
    with pytest.raises(ProtocolError, match=f"the keys of site {number} are not signed by its certificate"):
        sites[0].check(number, statement, bytes(vouched))


def test_a_site_of_another_federation_or_authority_or_the_coordinator_is_not_taken_for_one(sites, keys, tmp_path):
    shop = CertificateIdentity(keys.path("shops.1"), "clinics")
    coordinator = CertificateIdentity(keys.path("coordinator"), "clinics")
    elsewhere = Keys(tmp_path)
    elsewhere.new("clinics.1")
    stranger = CertificateIdentity(elsewhere.path("clinics.1"), "clinics")
    for other in (shop, coordinator, stranger):
        with pytest.raises(ProtocolError, match="the keys of site 1 are not signed by its certificate"):
            sites[0].check(1, b"keys", padded(other.sign(b"keys")))


def test_the_name_of_the_federation_is_signed_too(keys):
    here = CertificateIdentity(keys.path("shops.1"), "shops")
    there = CertificateIdentity(keys.path("shops.1"), "clinics")
    with pytest.raises(ProtocolError, match="the keys of site 1"):
        here.check(1, b"keys", padded(there.sign(b"keys")))


def test_a_key_of_another_kind_is_refused(tmp_path, keys):
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    other = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    text = keys.path("clinics.0").read_bytes()
    (tmp_path / "odd.pem").write_bytes(other + text[text.index(b"-----BEGIN CERTIFICATE") :])
    with pytest.raises(InvalidInput, match="has a key of another kind: make one with `fedbandit keys new`"):
        CertificateIdentity(tmp_path / "odd.pem", "clinics")

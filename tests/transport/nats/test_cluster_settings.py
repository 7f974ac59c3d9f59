"""How several brokers that are one cluster are named, and what each is told of the others."""

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats.address import Address, check_server
from fedbandit.transport.nats.broker_settings import Cluster

THREE = "nats://one:4222,two:4223,three:4222"


def test_an_address_names_any_number_of_brokers():
    assert Address.parse(f"{THREE}/demo") == Address(THREE, "demo")
    assert Address.parse("nats://[::1],[::2]:4223/demo").server == "nats://[::1]:4222,[::2]:4223"
    assert check_server(THREE) == THREE


@pytest.mark.parametrize(
    "url", ["nats://one:4222,", "nats://one:4222,two", "nats://,one:4222", "nats://one:4222,two:x"]
)
def test_a_list_with_a_broker_that_is_none_is_refused(url):
    with pytest.raises(InvalidInput, match="is no address of a broker"):
        check_server(url)


def test_a_broker_of_a_cluster_knows_itself_and_the_others():
    assert Cluster.of(THREE, "two:4223") == Cluster("two-4223", 6223, ("one:6222", "two:6223", "three:6222"))


@pytest.mark.parametrize(
    ("url", "which", "sentence"),
    [
        (THREE, "four:4222", "'four:4222' is none of the brokers one:4222, two:4223, three:4222"),
        (THREE, "two:4222", "'two:4222' is none of the brokers"),
        ("nats://one:65000", "one:65000", "brokers of a cluster need port 67000, too: give one a lower one"),
        ("tls://10.0.0.1:4222", "10.0.0.1:4222", "10.0.0.1 is no name: with tls://"),
    ],
)
def test_what_cannot_be_a_cluster_is_refused(url, which, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        Cluster.of(url, which)

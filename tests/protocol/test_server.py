"""The server node lets each upload through exactly once, whatever arrives in whatever order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbandit.core.errors import ProtocolError
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.seen import Seen
from fedbandit.protocol.server import ServerNode
from samples.examples import examples
from samples.messages import FullUpload, Pong
from samples.sides import ListeningServer

CLIENTS = 4


def node():
    return ServerNode(ListeningServer(), CLIENTS)


def upload(senders, numbers, epoch=0):
    """Uploads that say in their header who sent them and as which number."""
    rows = len(senders)
    senders, numbers = np.array(senders, dtype=np.int64), np.array(numbers, dtype=np.int64)
    names = 1000 * epoch + 100 * senders + numbers
    return Envelope(
        senders, FullUpload(np.zeros((rows, 1, 1)), np.zeros((rows, 1)), np.zeros(rows), names), epoch, numbers
    )


def let_through(server):
    return [name for _, message in server.state for name in message.count.tolist()]


arrivals = st.lists(
    st.lists(st.tuples(st.integers(0, CLIENTS - 1), st.integers(1, 6)), min_size=1, max_size=5), max_size=25
)


@settings(deadline=None, max_examples=examples(300))
@given(arrivals)
def test_each_upload_is_let_through_exactly_once_in_any_order_with_any_repetition(envelopes):
    server = node()
    for pairs in envelopes:
        server.receive(upload(*zip(*pairs, strict=True)))
    arrived = {100 * sender + number for pairs in envelopes for sender, number in pairs}
    passed = let_through(server)
    assert len(passed) == len(set(passed)), "nothing twice"
    assert set(passed) == arrived, "nothing lost"


@settings(deadline=None, max_examples=100)
@given(st.permutations([(sender, number) for sender in range(3) for number in range(1, 5)]), st.data())
def test_the_order_of_arrival_and_repetition_change_nothing_about_what_is_let_through(order, data):
    server = node()
    for place, (sender, number) in enumerate(order):
        server.receive(upload([sender], [number]))
        again = order[data.draw(st.integers(0, place))]
        assert server.receive(upload([again[0]], [again[1]])) == []
    assert sorted(let_through(server)) == sorted(100 * sender + number for sender, number in order)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=12))
def test_what_was_seen_of_one_life_says_nothing_about_another(pairs):
    server = node()
    for epoch, number in pairs:
        server.receive(upload([1], [number], epoch))
    assert sorted(let_through(server)) == sorted({1000 * epoch + 100 + number for epoch, number in pairs})


def test_of_an_envelope_that_is_partly_known_only_the_new_rows_pass():
    server = node()
    server.receive(upload([1], [1]))
    server.receive(upload([0, 1, 2], [1, 1, 1]))
    assert let_through(server) == [101, 1, 201]
    assert server.state[1][0] == [0, 2]


def test_one_sender_twice_in_one_envelope_passes_once():
    server = node()
    server.receive(upload([1, 1, 1], [1, 1, 2]))
    assert let_through(server) == [101, 102]


def test_an_upload_that_came_early_is_remembered_until_the_gap_is_closed():
    seen = Seen.nothing(clients=1)
    admitted = [seen.admit(0, np.array([0]), np.array([number])).size for number in (3, 2, 3, 1, 1, 2, 3, 4)]
    assert admitted == [1, 1, 0, 1, 0, 0, 0, 1]


def test_memory_of_early_uploads_is_given_back():
    seen = Seen.nothing(clients=1)
    for number in [*range(100, 0, -1)]:
        seen.admit(0, np.array([0]), np.array([number]))
    assert seen.look(0, epoch=0).early == set()


def test_downloads_are_numbered_from_one_and_name_their_recipients():
    server = node()
    answers = [answer for number in (1, 2) for answer in server.receive(upload([3], [number]))]
    assert [int(answer.sequence) for answer in answers] == [1, 2]
    assert [answer.clients.tolist() for answer in answers] == [[3], [3]]
    assert [answer.message for answer in answers] == [Pong(1), Pong(2)]


def test_downloads_carry_the_servers_epoch():
    server = ServerNode(ListeningServer(), CLIENTS, epoch=5)
    (answer,) = server.receive(upload([0], [1]))
    assert answer.epoch == 5


@pytest.mark.parametrize("stranger", [-1, CLIENTS, 10**9])
def test_a_stranger_is_refused_and_nothing_changes(stranger):
    server = node()
    with pytest.raises(ProtocolError, match=f"client {stranger}, but the roster has {CLIENTS} clients"):
        server.receive(upload([0, stranger], [1, 1]))
    assert server.state == []
    server.receive(upload([0], [1]))
    assert let_through(server) == [1], "the known sender of the refused envelope is still new"


def test_a_download_at_the_server_is_refused():
    with pytest.raises(ProtocolError, match="the server takes uploads"):
        node().receive(Envelope(np.array([0]), Pong(1), 0, np.asarray(1)))


def test_an_upload_without_a_number_for_each_sender_is_refused():
    good = upload([0, 1], [1, 1])
    with pytest.raises(ProtocolError, match="a number for each sender"):
        node().receive(Envelope(good.clients, good.message, 0, np.array([1])))

"""A stamp says which uploads a download holds: compared with sets of numbers, and bit by bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedbandit.protocol.held_uploads import UNCLEAR, lacks_of, stamps
from fedbandit.protocol.seen import Seen

EPOCHS = st.integers(1, 2**62)


def taken_in(epoch, numbers):
    """What a server has seen that took in some uploads of client 1."""
    seen = Seen.nothing(clients=3)
    for number in numbers:
        seen.open(1, epoch).admit(number)
    return seen


def lacking(epoch, numbers, sent, asked_in=None):
    told = stamps(epoch, np.array([1]), taken_in(epoch, numbers))
    lacks = lacks_of(told, asked_in or epoch, np.array([0, sent]), clients=np.array([1]))
    return 0 if lacks is None else int(lacks[0])


@given(EPOCHS, st.integers(0, 40), st.sets(st.integers(2, 13)), st.integers(0, 20))
def test_what_a_download_lacks_is_what_was_sent_and_not_taken_in(epoch, up_to, early, more):
    numbers = {*range(1, up_to + 1), *(up_to + each for each in early)}
    sent = max([up_to, *numbers]) + more
    wanted = sum(1 << sent - number for number in range(1, sent + 1) if number not in numbers)
    assert lacking(epoch, numbers, sent) == wanted


@given(EPOCHS, st.integers(1, 2**16 - 1), st.integers(0, 59))
def test_of_another_epoch_it_has_nothing(epoch, other, sent):
    assert lacking(epoch, range(1, sent + 1), sent, asked_in=epoch + other) == (1 << sent) - 1


def test_where_uploads_came_too_far_out_of_order_it_cannot_tell():
    assert lacking(5, [1, 14], sent=14) == sum(1 << 14 - number for number in range(2, 14))
    assert lacking(5, [1, 15], sent=15) == UNCLEAR


def test_a_stamp_is_told_to_others_so_its_bits_stay_where_they_are():
    (stamp,) = stamps(0x5_8001, np.array([1]), taken_in(0x5_8001, [1, 2, 4, 6])).tolist()
    assert stamp == 1 << 60 | 0x8001 << 44 | 0b101 << 32 | 2


def test_of_many_recipients_only_those_that_lack_something_are_told_so():
    seen = Seen.nothing(clients=4)
    for number in (1, 2):
        seen.admit(0, np.array([0, 2, 3]), np.full(3, number))
    some = np.array([3, 0, 2])
    told = stamps(0, some, seen)
    assert lacks_of(told, 0, np.array([2, 9, 2, 2]), some) is None
    assert lacks_of(told, 0, np.array([3, 9, 2, 4]), some).tolist() == [0b11, 0b1, 0]
    assert lacks_of(int(told[0]), 0, np.array([2, 9, 2, 3]), some).tolist() == [0b1, 0, 0], "one stamp for all"

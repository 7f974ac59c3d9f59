"""Which numbers are dealt with, whatever the order in which they come."""

from hypothesis import given
from hypothesis import strategies as st

from fedbandit.protocol.seen import Window

NUMBERS = st.lists(st.tuples(st.sampled_from(["admit", "settle"]), st.integers(1, 12)), max_size=20)


@given(NUMBERS)
def test_a_window_is_the_set_of_the_numbers_that_were_dealt_with(steps):
    window, dealt_with = Window(), set()
    for step, number in steps:
        if step == "admit":
            assert window.admit(number) is (number not in dealt_with)
            dealt_with.add(number)
        else:
            window.settle(number)
            dealt_with |= set(range(1, number + 1))
        assert [each for each in range(1, 15) if window.has(each)] == sorted(dealt_with)
        assert window.top == max(dealt_with)
        assert window.up_to == next(each for each in range(14) if each + 1 not in dealt_with)
        assert all(each > window.up_to + 1 for each in window.early), "none is remembered one by one without need"

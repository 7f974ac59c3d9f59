"""Messages are declared field by field; the declaration says how they are counted and packed."""

from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest

from fedbandit.core.messages import Download, Layout, Message, Upload, array, header, one_row


@dataclass(frozen=True)
class Up(Upload, kind="test.messages.up"):
    matrix: np.ndarray = array(Layout.SYMMETRIC)
    vector: np.ndarray = array()
    count: np.ndarray = header()


@dataclass(frozen=True)
class Down(Download, kind="test.messages.down"):
    vector: np.ndarray = array(Layout.SPARSE)


@dataclass(frozen=True)
class Signal(Download, kind="test.messages.signal"):
    version: int = header()


@dataclass(frozen=True)
class Bare(Upload, kind="test.messages.bare"):
    pass


def test_a_kind_is_known_by_its_name_on_the_wire():
    assert Message.known["test.messages.up"] is Up
    assert Up.kind == "test.messages.up"


def test_a_message_without_a_kind_is_not_known():
    assert Upload not in Message.known.values()
    assert "" not in Message.known


def test_the_layout_lists_the_fields_in_order():
    assert list(Up.layout().items()) == [
        ("matrix", Layout.SYMMETRIC),
        ("vector", Layout.DENSE),
        ("count", Layout.HEADER),
    ]
    assert Down.layout() == {"vector": Layout.SPARSE}, "layouts of two types are not mixed up"


def test_a_message_without_arrays_is_a_signal():
    assert Signal.is_signal()
    assert Bare.is_signal()
    assert not Up.is_signal()
    assert not Down.is_signal()


@pytest.mark.parametrize("which", [slice(1, 3), np.array([2, 0])])
def test_the_rows_of_an_upload_are_those_of_the_wanted_senders(which):
    message = Up(np.arange(12.0).reshape(3, 2, 2), np.arange(6.0).reshape(3, 2), np.array([7, 8, 9]))
    part = message.rows(which)
    assert (part.matrix == message.matrix[which]).all()
    assert (part.vector == message.vector[which]).all()
    assert (part.count == message.count[which]).all()
    assert type(part) is Up


def test_a_sole_senders_value_is_one_row():
    assert one_row(np.zeros((2, 3))).shape == (1, 2, 3)
    assert one_row(0.5).tolist() == [0.5]


def test_a_message_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Signal(3).version = 4

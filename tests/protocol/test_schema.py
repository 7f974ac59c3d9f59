"""A schema knows the messages that a side takes in, and how large they can be."""

from __future__ import annotations

import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.core.messages import Upload
from fedbandit.protocol.schema import Schema
from fedbandit.wire.codec import MOST_VALUES
from samples.messages import FullUpload, Ping
from samples.sides import ListeningServer

SETTING = fb.Setting(clients=2, arms=2, dimension=3, horizon=10)


class Open(ListeningServer):
    kinds = (Ping, FullUpload)


def test_a_message_without_a_declared_shape_may_be_as_large_as_a_decoder_takes_and_no_coordinator_takes_it():
    schema = Schema.of(Open(), Upload, SETTING)
    assert schema.most_values == MOST_VALUES
    assert schema.most_bytes == 16 * MOST_VALUES  # pairs of a place and a value
    with pytest.raises(InvalidInput, match=r"'test\.full-upload' does not declare the shape of 'matrix'"):
        schema.require_shapes()

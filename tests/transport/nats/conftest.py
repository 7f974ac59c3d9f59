"""A broker with TLS for two sites of one stream."""

from __future__ import annotations

import pytest

from samples.secure_broker import CLIENTS, HONEST, HOSTILE, SecureBroker


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    made = SecureBroker(tmp_path_factory.mktemp("secure"), CLIENTS, (HOSTILE, HONEST))
    yield made
    made.broker.stop()

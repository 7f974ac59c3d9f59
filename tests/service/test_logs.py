"""The service says what it does, and of libraries only what they warn of."""

import logging

from fedbandit.service.logs import log_to_stderr


def test_libraries_are_heard_only_when_they_warn():
    log_to_stderr()
    assert logging.getLogger("fedbandit.coordinator").isEnabledFor(logging.INFO)
    assert not logging.getLogger("jax").isEnabledFor(logging.INFO)
    assert logging.getLogger("jax").isEnabledFor(logging.WARNING)

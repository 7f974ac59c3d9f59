"""The service says what it does, and of libraries only what they warn of."""

import subprocess
import sys

TALK = """
import logging
from fedbandit.service.coordinator.logs import log_to_stderr

log_to_stderr()
for name in ("fedbandit.coordinator", "jax"):
    logging.getLogger(name).info("a word of %s", name)
    logging.getLogger(name).warning("a warning of %s", name)
"""


def test_libraries_are_heard_only_when_they_warn():
    said = subprocess.run([sys.executable, "-c", TALK], capture_output=True, text=True, check=True).stderr
    assert [line.split(": ")[1] for line in said.splitlines()] == [
        "a word of fedbandit.coordinator", "a warning of fedbandit.coordinator", "a warning of jax",
    ]  # fmt: skip

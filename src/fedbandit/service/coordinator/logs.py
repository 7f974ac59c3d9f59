"""What a process of the service writes to standard error."""

from __future__ import annotations

import logging
import sys


def log_to_stderr() -> None:
    """Write what fedbandit does, and what libraries warn of."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("fedbandit").setLevel(logging.INFO)

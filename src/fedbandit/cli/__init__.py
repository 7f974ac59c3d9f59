"""The command line: `fedbandit list | describe | run | reproduce | data | demo`."""

from fedbandit.cli.main import main

__all__ = ["main"]

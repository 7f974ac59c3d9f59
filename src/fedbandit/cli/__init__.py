"""The command line: `fedbandit list | describe | run | reproduce | data | suggest | evaluate | demo | serve ...`."""

from fedbandit.cli.main import main

__all__ = ["main"]

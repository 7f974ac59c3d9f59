"""The command line: `fedbandit list | describe | run | reproduce | data | demo | serve | broker | keys`."""

from fedbandit.cli.main import main

__all__ = ["main"]

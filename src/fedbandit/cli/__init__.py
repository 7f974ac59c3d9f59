"""The command line: `fedbandit list | describe | run | reproduce | data | suggest | demo | serve | broker | keys`."""

from fedbandit.cli.main import main

__all__ = ["main"]

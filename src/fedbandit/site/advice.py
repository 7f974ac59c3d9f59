"""What an algorithm would have whoever runs a site know."""

from __future__ import annotations

from collections.abc import Sequence

from fedbandit.durable.site.journalled import JournalledSite


class Advice:
    """Asks the algorithm after each reward, until it has said something: a log is told once, not at every reward."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._is_given = False

    def new(self, node: JournalledSite) -> Sequence[str]:
        """Return sentences for the log, or nothing."""
        if self._is_given:
            return ()
        warnings = node.warnings
        self._is_given = bool(warnings)
        return warnings

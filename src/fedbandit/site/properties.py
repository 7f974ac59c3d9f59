"""What a program can see of a site, at any time and from any thread."""

from __future__ import annotations

from collections.abc import Callable

from fedbandit.core.releases import Privacy
from fedbandit.durable.site.client import DurableClient
from fedbandit.site.condition import SiteState
from fedbandit.site.guard import ClosedByWith, Guard
from fedbandit.site.line import Line


class SiteProperties(ClosedByWith):
    """A site to look at."""

    node: DurableClient
    _guard: Guard
    _line: Line

    @property
    def pending(self) -> int:
        """Return how many decisions await their reward."""
        with self._guard.reading():
            return self.node.pending

    @property
    def unsent(self) -> int:
        """Return how many uploads the coordinator has not acknowledged."""
        with self._guard.reading():
            return self.node.unsent

    @property
    def version(self) -> int:
        """Return the number of the coordinator's last download, 0 before the first."""
        with self._guard.reading():
            return self.node.version

    @property
    def revision(self) -> int:
        """Return how often what the federation has agreed on was changed, as far as this site has heard."""
        with self._guard.reading():
            return self.node.revisions

    @property
    def refused(self) -> list[str]:
        """Return why the coordinator refused uploads of this site for good, if it did: of the last 100 at most."""
        with self._guard.reading():
            return [each.reason for each in self.node.refused]

    @property
    def privacy(self) -> Privacy | None:
        """Return what has left of any one observation of this site; None where the algorithm promises nothing.

        >>> from fedbandit.site.site import Site
        >>> Site("private-linucb", dimension=2, epsilon=1.0).privacy
        Privacy(epsilon=1.0, delta=1e-06, spent=0.0, mu=0.0, made=0, left=64)
        """
        with self._guard.reading():
            return self.node.privacy

    @property
    def state(self) -> SiteState:
        """Return where the site stands with its coordinator: `site.state.value` is "connected" if all is well."""
        return self._line.condition.now[0]

    @property
    def connected(self) -> bool:
        """Tell whether the coordinator has answered, and takes in what the site sends."""
        return self.state is SiteState.CONNECTED

    def on_change(self, tell: Callable[[SiteState, str], None]) -> None:
        """Call `tell(state, trouble)` now, and whenever one of the two changes.

        That is in the thread in which the site talks: nothing should be waited for there.

        >>> from fedbandit.site.site import Site
        >>> Site("async-linucb", dimension=2).on_change(lambda state, trouble: print(state.value, trouble or "-"))
        offline -
        """
        self._line.condition.watch(tell)

    @property
    def trouble(self) -> str:
        """Return in a sentence what is wrong, "" if nothing is."""
        return self._line.condition.now[1]

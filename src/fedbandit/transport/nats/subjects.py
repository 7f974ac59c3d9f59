"""Where things are said: subjects and streams of one federation.

    fedbandit.NAME.up.SHARD.SITE   from a site: uploads, and all else that must not be lost; one stream for each shard
    fedbandit.NAME.ask.SITE        from a site: its last question; one stream in the broker's memory
    fedbandit.NAME.report.SITE     from a site that opted in: how often it played which arm, and the rewards; its last
                                   one, in a stream in the broker's memory
    fedbandit.NAME.down.SITE       to a site
    fedbandit.NAME.in              to the coordinator: what the streams deliver
    fedbandit.NAME.coordinator     from one coordinator to another, of which there should be none
    fedbandit.NAME.roster          from an operator to the coordinator: who is to be invited, removed, revoked
    fedbandit.NAME.charter         from an operator to the coordinator: what is to change of what was agreed on
    fedbandit-joining.NAME.TOKEN   from whoever was invited to the coordinator: a key, to have its certificate signed

A broker that syncs each message to its disk writes the messages of one stream one after the other. Sites are spread
over several streams, so that these waits overlap.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fedbandit.core.errors import InvalidInput

SHARDS = 16
PROBE = "probe"  # in the place of a site
ANY_JOINING = "fedbandit-joining.*.*"


@dataclass(frozen=True)
class Subjects:
    """The subjects of a federation by its name.

    >>> Subjects("demo").up(35), Subjects("demo").sender("fedbandit.demo.up.3.35")
    ('fedbandit.demo.up.3.35', 35)
    """

    federation: str

    def __post_init__(self) -> None:
        """Check the name: it stands in subjects, in names of files and in certificates."""
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", self.federation):
            raise InvalidInput(f"{self.federation!r} cannot name a federation: use letters, digits, - and _")

    @property
    def root(self) -> str:
        """Return what all subjects begin with."""
        return f"fedbandit.{self.federation}"

    def up(self, site: int) -> str:
        """Return where a site sends what must not be lost."""
        return f"{self.root}.up.{site % SHARDS}.{site}"

    def ask(self, site: int) -> str:
        """Return where a site asks."""
        return f"{self.root}.ask.{site}"

    def report(self, site: int) -> str:
        """Return where a site tells what it has played."""
        return f"{self.root}.report.{site}"

    def down(self, site: int) -> str:
        """Return where a site listens."""
        return f"{self.root}.down.{site}"

    def inbox(self, site: int) -> str:
        """Return the prefix under which the broker answers a site."""
        return f"_INBOX.{self.federation}.{site}"

    def said_by(self, site: int) -> list[str]:
        """Return all subjects under which a site speaks."""
        return [self.up(site), self.ask(site), self.report(site)]

    def heard_by(self, site: int) -> list[str]:
        """Return all subjects under which a site listens."""
        return [self.down(site), f"{self.inbox(site)}.>"]

    def name(self, site: int) -> str:
        """Return the name of a site in its certificate, and of its account.

        >>> Subjects("demo").name(3)
        'demo.3'
        """
        return f"{self.federation}.{site}"

    @property
    def delivery(self) -> str:
        """Return below which the streams deliver, to each connection of a coordinator under a name of its own."""
        return f"{self.root}.in"

    @property
    def coordinator(self) -> str:
        """Return where coordinators hear of each other."""
        return f"{self.root}.coordinator"

    @property
    def roster(self) -> str:
        """Return where an operator tells the coordinator who is to belong to the federation."""
        return f"{self.root}.roster"

    @property
    def charter(self) -> str:
        """Return where an operator tells the coordinator what is to change of what the federation has agreed on."""
        return f"{self.root}.charter"

    def joining(self, token: str) -> str:
        """Return where whoever was invited asks for a certificate."""
        return f"fedbandit-joining.{self.federation}.{token}"

    def joining_inbox(self, token: str) -> str:
        """Return the prefix under which it is answered."""
        return f"_INBOX.joining.{self.federation}.{token}"

    def streams(self, clients: int) -> dict[str, str]:
        """Return the subjects of the streams that so many sites need, by the stream's name.

        >>> Subjects("demo").streams(clients=2)
        {'fedbandit-demo-up-0': 'fedbandit.demo.up.0.*', 'fedbandit-demo-up-1': 'fedbandit.demo.up.1.*'}
        """
        shards = range(min(SHARDS, clients))
        return {f"fedbandit-{self.federation}-up-{shard}": f"{self.root}.up.{shard}.*" for shard in shards}

    def probes(self, clients: int) -> dict[str, str]:
        """Return where the coordinator tries whether the streams of so many sites store, by the stream's name."""
        every = self.streams(clients) | self.last_words
        return {name: f"{subject[:-1]}{PROBE}" for name, subject in every.items()}

    @property
    def last_words(self) -> dict[str, str]:
        """Return the subjects of the streams that keep only the last of each site, by the stream's name.

        >>> Subjects("demo").last_words
        {'fedbandit-demo-ask': 'fedbandit.demo.ask.*', 'fedbandit-demo-report': 'fedbandit.demo.report.*'}
        """
        return {f"fedbandit-{self.federation}-{what}": f"{self.root}.{what}.*" for what in ("ask", "report")}

    def sender(self, subject: str) -> int | None:
        """Return the site that said something under a subject, or None if it is not one of a site."""
        return self.said(subject)[0]

    def said(self, subject: str) -> tuple[int | None, bool]:
        """Return which site said something under a subject, if one did, and whether only its last word counts.

        >>> Subjects("demo").said("fedbandit.demo.ask.35"), Subjects("demo").said("fedbandit.demo.up.4.35")
        ((35, True), (None, False))
        """
        last = subject.rpartition(".")[2]
        site = int(last) if last.isascii() and last.isdigit() and len(last) < 19 else None
        if site is None:
            return None, False
        if subject == self.up(site):
            return site, False
        return (site, True) if subject in self.said_by(site) else (None, False)

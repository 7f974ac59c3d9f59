"""Signs of life of the process that has a journal in PostgreSQL open, and how another takes its place.

A journal is written through one session, which has an advisory lock on its name: while the session lasts nobody else
has the lock, and once it is ended nothing can be written through it, not even what was half said. So to take over is to
have the database end that session. Signs of life are what the database itself notes of a second session of the holder,
whose name says of whom it is: nothing is written for them, and a long transaction does not delay them.
"""

from __future__ import annotations

import logging
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.lease import JournalLost, Sign
from fedbandit.durable.journals.postgres_rows import connect, driver

log = logging.getLogger("fedbandit.coordinator")

LOCK = "hashtextextended(%(lock)s, 0)"
_HELD = f"""
FROM pg_locks held WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 1
    AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (held.classid::bigint << 32 | held.objid::bigint) = {LOCK}
"""
_SIGN = f"""
SELECT held.pid, (SELECT max(state_change)::text FROM pg_stat_activity
                  WHERE application_name = 'fedbandit beat ' || held.pid) {_HELD}
"""


def lock_of(name: str) -> dict[str, str]:
    """Return what the lock of a journal is known by.

    >>> lock_of("demo")
    {'lock': 'fedbandit demo'}
    """
    return {"lock": f"fedbandit {name}"}


class PostgresBeat:
    """The signs of life of this process, which holds the lock of a journal in a session of its own."""

    def __init__(self, url: str, name: str, holder: int) -> None:
        """Begin to show signs of life of the session of a number."""
        self._name, self._holder = name, holder
        self._base = connect(url)
        self._base.execute(f"SET application_name = 'fedbandit beat {holder}'")

    def show(self) -> None:
        """Show one; raise JournalLost if the session has no lock any more."""
        try:
            query = f"SELECT 1 {_HELD} AND held.pid = %(holder)s"
            row = self._base.execute(query, lock_of(self._name) | {"holder": self._holder}).fetchone()
        except driver().Error as error:
            raise lost(self._name, str(error).strip()) from error
        if row is None:
            raise lost(self._name, "another process has taken it over")

    def close(self) -> None:
        """Show no more."""
        self._base.close()


class PostgresHolder:
    """Whoever has a journal in a database open."""

    def __init__(self, url: str, name: str) -> None:
        """Take the URL of the database, and the name of the journal; a connection is made with the first look."""
        self._url, self._name = url, name
        self._base: Any = None

    def look(self) -> Sign | None:
        """Return what is seen of the holder; None if nobody has the journal open."""
        if self._base is None:
            self._base = connect(self._url)
        try:
            row = self._base.execute(_SIGN, lock_of(self._name)).fetchone()
        except driver().Error as error:
            self.close()
            raise InvalidInput(f"the database cannot be asked ({str(error).strip()}): see that it runs") from error
        return None if row is None else Sign(*row)

    def end(self, holder: int) -> None:
        """Have the database end the session, if it is the one that has the journal open."""
        asked = lock_of(self._name) | {"holder": holder}
        try:
            self._base.execute(f"SELECT pg_terminate_backend(held.pid) {_HELD} AND held.pid = %(holder)s", asked)
        except driver().Error as error:
            log.error("session %d of the database has %s open, shows no sign of life, and cannot be ended (%s): end it",
                      holder, self._name, str(error).strip())  # fmt: skip
        else:
            log.warning("%s: the session of a coordinator without signs of life was ended", self._name)

    def close(self) -> None:
        """End the connection."""
        if self._base is not None:
            self._base.close()
        self._base = None


def lost(name: str, why: str) -> JournalLost:
    """Return the error for a journal through whose session nothing can be written any more."""
    return JournalLost(
        f"the journal {name!r} cannot be used ({why}): see that the database runs and that no other process has the "
        "journal open, and open it again"
    )

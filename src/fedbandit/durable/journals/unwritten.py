"""Records of a journal that were appended and are not written yet: one thread may append while another writes."""

from __future__ import annotations

from fedbandit.durable.journals.seals import seal

NewRow = tuple[int, bool, bytes, int]  # position, whether it is kept, the record, its seal


class Unwritten:
    """The records that wait to be written, in their order.

    >>> unwritten = Unwritten(last=7)
    >>> [unwritten.append(record, keep=False) for record in (b"one", b"two", b"three")]
    [8, 9, 10]
    >>> rows = unwritten.up_to(9)
    >>> unwritten.drop(rows)
    >>> len(rows), unwritten.written, unwritten.last
    (2, 9, 10)
    >>> unwritten.rollback()
    >>> unwritten.written, unwritten.last
    (9, 9)
    """

    def __init__(self, last: int) -> None:
        """Begin with none, after the last record that is written."""
        self.last = last
        self._rows: list[NewRow] = []

    def __bool__(self) -> bool:
        """Tell whether any wait."""
        return bool(self._rows)

    @property
    def written(self) -> int:
        """Return the position of the last record that is written."""
        last = self.last  # first, since another thread may add records
        return self._rows[0][0] - 1 if self._rows else last

    def append(self, record: bytes, *, keep: bool) -> int:
        """Add a record, and return its position."""
        position = self.last + 1
        self._rows.append((position, keep, record, seal(position, record)))
        self.last = position
        return position

    def up_to(self, last: int) -> list[NewRow]:
        """Return those up to a position; more may be added meanwhile."""
        return self._rows[: max(0, last - self.written)]

    def drop(self, rows: list[NewRow]) -> None:
        """Go on after the first, which are written now."""
        del self._rows[: len(rows)]

    def rollback(self) -> None:
        """Forget them all."""
        self.last -= len(self._rows)
        self._rows.clear()

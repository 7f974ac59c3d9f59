"""What can go wrong with a data set, each told in one sentence that ends with the remedy.

FedbanditError
├── InvalidInput
│   ├── MissingData      the set is nowhere to be found
│   └── DamagedFile      a file of the set is malformed, truncated or of another layout
└── DownloadError        the publisher could not be reached, or sent something else
"""

from __future__ import annotations

from fedbandit.core.errors import FedbanditError, InvalidInput


class MissingData(InvalidInput):
    """The data set is not on this machine.

    >>> issubclass(MissingData, InvalidInput)
    True
    """


class DamagedFile(InvalidInput):
    """A file of a data set cannot be read as what it should be.

    >>> issubclass(DamagedFile, InvalidInput)
    True
    """


class DownloadError(FedbanditError):
    """A download did not succeed; what arrived is kept where it can be resumed.

    >>> issubclass(DownloadError, FedbanditError)
    True
    """


def damaged(dataset: str, file: str, problem: str, line: int | None = None) -> DamagedFile:
    """Return the error for a file that cannot be read, with the place and the remedy.

    >>> error = damaged("lastfm", "user_artists.dat", "expected 3 columns, found 2", line=12)
    >>> str(error).split(": download")[0]
    'user_artists.dat line 12: expected 3 columns, found 2'
    """
    place = file if line is None else f"{file} line {line}"
    return DamagedFile(f"{place}: {problem}: download the set again with `fedbandit data fetch {dataset}`")

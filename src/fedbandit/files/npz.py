"""Named arrays in one file, without pickles: read whole, or refused in one sentence."""

from __future__ import annotations

from codecs import getincrementaldecoder
from pathlib import Path
from typing import Any

import numpy as np

from fedbandit.core.errors import InvalidInput

_ZIP, _EMPTY_ZIP = b"PK\x03\x04", b"PK\x05\x06"  # how an .npz begins
_ARRAY = b"\x93NUM"  # how a .npy begins
_OTHERS = {b"PAR1": "a Parquet file", b"\x1f\x8b": "a gzip file", b"SQLi": "an SQLite file", b"\x89HDF": "an HDF5 file"}


def read_npz(path: str | Path) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of an .npz file by name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(folder + "/one.npz", ones=np.ones(2))
    ...     read_npz(folder + "/one.npz")
    {'ones': array([1., 1.])}
    """
    try:
        with Path(path).open("rb") as file:
            _require_kind(file.read(1024))
            file.seek(0)
            found = np.load(file, allow_pickle=False)
            arrays = None if isinstance(found, np.ndarray) else {name: found[name] for name in found.files}
    except Exception as error:  # noqa: BLE001 - of a damaged file zipfile, zlib and numpy raise nearly anything
        why = " ".join(str(error).split()) or type(error).__name__
        raise InvalidInput(
            f"{path} is not a readable .npz of plain arrays ({why}): write it with numpy.savez"
        ) from None
    if arrays is None:
        raise InvalidInput(f"{path} is a single array, not an .npz: save named arrays with numpy.savez")
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise InvalidInput(f"{path} has {name!r} in it, which is no array: write the file with numpy.savez")
    return arrays


def _require_kind(begin: bytes) -> None:
    """Refuse a file that is plainly of another kind, by name where its first bytes tell."""
    if begin.startswith((_ZIP, _EMPTY_ZIP, _ARRAY)):
        return
    known = [name for mark, name in _OTHERS.items() if begin.startswith(mark)]
    kind = known[0] if known else "text" if _is_text(begin) else "something else"
    raise ValueError(f"it is {kind if begin else 'empty'}")


def _is_text(begin: bytes) -> bool:
    """Tell whether bytes are the beginning of a text, which may end within a letter.

    >>> _is_text(b"a,b\\n1,2"), _is_text(b"ARBI\\x00\\xff"), _is_text("Gr\u00fc".encode()[:3])
    (True, False, True)
    """
    try:
        text = getincrementaldecoder("utf-8")().decode(begin)
    except UnicodeDecodeError:
        return False
    return all(letter.isprintable() or letter in "\t\n\r" for letter in text)

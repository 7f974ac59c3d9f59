"""Download data sets from their publishers, with resume and checksums."""

from __future__ import annotations

import http.client
import os
import ssl
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from fedbandit.core.errors import InvalidInput
from fedbandit.datasets.description import Download
from fedbandit.datasets.files.checking import digest
from fedbandit.datasets.files.errors import DownloadError
from fedbandit.datasets.files.folders import download_folder
from fedbandit.datasets.registry import describe

# Called with the file's name, the bytes that are here, and the bytes in all where the server says.
Progress = Callable[[str, int, int | None], None]

TIMEOUT_SECONDS = 30
CHUNK_BYTES = 1 << 16


def fetch(
    name: str, folder: str | os.PathLike[str] | None = None, progress: Progress | None = None
) -> tuple[Path, ...]:
    """Download a data set into `folder`/`name` (default: the user's cache) and return the files.

    A file that is there already, with the right checksum, is not fetched again; one that broke off is
    resumed.

    >>> fetch("magick")
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: unknown data set 'magick': did you mean 'magic'?
    """
    description = describe(name)
    target = (Path(folder).expanduser() if folder is not None else download_folder()) / name
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"folder {target} cannot be made ({error.strerror}): give another folder") from error
    return tuple(download(item, target, name, progress) for item in description.downloads)


def download(item: Download, folder: Path, dataset: str, progress: Progress | None = None) -> Path:
    """Download one file into a folder that exists, through a `.part` file that a later call resumes.

    >>> from tempfile import TemporaryDirectory
    >>> item = Download("https://example.org/empty.txt", "md5:d41d8cd98f00b204e9800998ecf8427e")
    >>> with TemporaryDirectory() as folder:
    ...     (Path(folder) / "empty.txt").touch()  # with the right sum, so that nothing is fetched
    ...     download(item, Path(folder), "toy").name
    'empty.txt'
    """
    final = folder / item.filename
    if final.exists() and _is_sound(final, item):
        return final
    part = folder / f"{item.filename}.part"
    try:
        _receive(item, part, progress)
        wrong = _wrong_sum(part, item)
        if wrong is not None:
            # Resuming what is wrong would never make it right.
            part.unlink()
            raise DownloadError(
                f"{item.url} sent a file with {wrong}: try `fedbandit data fetch {dataset}` again, or get "
                f"the file by hand and put it into {folder}"
            )
        part.replace(final)
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        raise DownloadError(_sentence(error, item, part, dataset)) from error
    return final


def _receive(item: Download, part: Path, progress: Progress | None) -> None:
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "fedbandit"} | ({"Range": f"bytes={have}-"} if have else {})
    request = urllib.request.Request(item.url, headers=headers)
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not have:
            raise
        # Nothing is left to send: the part is whole, or it belongs to another version. The sum decides, and
        # where none is known the file is fetched afresh.
        error.close()
        if item.checksum is not None and _wrong_sum(part, item) is None:
            return
        part.unlink()
        _receive(item, part, progress)
        return
    with response:
        resumed = response.status == http.HTTPStatus.PARTIAL_CONTENT
        have = have if resumed else 0
        length = response.headers.get("Content-Length")
        total = have + int(length) if length is not None else None
        with part.open("ab" if resumed else "wb") as file:
            while chunk := response.read(CHUNK_BYTES):
                file.write(chunk)
                have += len(chunk)
                if progress is not None:
                    progress(item.filename, have, total)
    if total is not None and have < total:
        raise ConnectionError(f"the connection broke after {have:,} of {total:,} bytes")


def _is_sound(file: Path, item: Download) -> bool:
    """Whether a file need not be fetched again; where no sum is known, a zip must read to its end."""
    if item.checksum is not None:
        return _wrong_sum(file, item) is None
    try:
        with zipfile.ZipFile(file) as archive:
            return archive.testzip() is None
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError):
        return not file.name.endswith(".zip")


def _wrong_sum(file: Path, item: Download) -> str | None:
    """Return what is wrong with a file's checksum, None if it is right or not known."""
    if item.checksum is None:
        return None
    algorithm, _, wanted = item.checksum.partition(":")
    found = digest(file, algorithm)
    return None if found == wanted else f"the {algorithm} sum {found[:12]}... instead of {wanted[:12]}..."


def _sentence(error: Exception, item: Download, part: Path, dataset: str) -> str:
    again = f"run `fedbandit data fetch {dataset}` again"
    if isinstance(error, urllib.error.HTTPError):
        return f"{item.url} answered {error.code} {error.reason}: look for the file on its publisher's page"
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, ssl.SSLCertVerificationError):
        return f"{item.url} has no valid certificate ({reason.verify_message}): {again} when it has one"
    cause = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    kept = f", what arrived is kept in {part}" if part.exists() else ""
    return f"{item.url} could not be downloaded ({cause}){kept}: check the network and {again}"

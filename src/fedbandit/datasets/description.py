"""What is known about a data set before it is opened, and how a loaded one is compared with that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, replace
from typing import Any, ClassVar, Protocol, TypeVar

from fedbandit.datasets.files.release import Release


@dataclass(frozen=True)
class Download:
    """One file at a publisher's: where it is and, where known, its checksum and its size in bytes.

    The checksum is that of the publisher's own file, written `sha256:...` or `md5:...`.

    >>> Download("https://example.org/data/toy.zip", size=12).filename
    'toy.zip'
    """

    url: str
    checksum: str | None = None
    size: int | None = None

    @property
    def filename(self) -> str:
        """The name the file is kept under."""
        return self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Description:
    """A data set as its publisher describes it.

    `files` are the files of the release that the reader knows of; `anchors` are files of which at least one
    shows that a folder holds this set, `homes` the names that the folder or archive usually has,
    `subfolders` the folders within it that belong to the set, `expected` the counts of the full release.

    >>> toy = Description("toy", "A toy", "nobody", "none", "https://example.org", anchors=("toy.csv",))
    >>> toy.fetch_command
    'fedbandit data fetch toy'
    """

    name: str
    title: str
    publisher: str
    terms: str
    page: str
    downloads: tuple[Download, ...] = ()
    files: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    subfolders: tuple[str, ...] = ()
    expected: Mapping[str, int] = field(default_factory=dict)

    @property
    def fetch_command(self) -> str:
        """The command that downloads the set."""
        return f"fedbandit data fetch {self.name}"

    @property
    def size(self) -> int | None:
        """Bytes to download, where the publisher's sizes are known."""
        sizes = [download.size for download in self.downloads if download.size is not None]
        return sum(sizes) if sizes and len(sizes) == len(self.downloads) else None


class DataSet(Protocol):
    """What every loaded data set can tell: its counts, and in sentences what it lacks.

    >>> from fedbandit.datasets.files import examples
    >>> from fedbandit.datasets.sets import magic
    >>> with examples.folder("magic") as path:
    ...     data: DataSet = magic.load(path)
    >>> data.missing[0]
    '3 of the 19,020 rows of the release are here'
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def missing(self) -> tuple[str, ...]:
        """What the full release has and this copy lacks, a sentence each."""

    def counts(self) -> dict[str, int]:
        """The counts that the publisher states, recomputed."""


Loaded = TypeVar("Loaded", bound=DataSet)


def with_missing(loaded: Loaded, description: Description, release: Release, *sentences: str) -> Loaded:
    """Return the data set with `missing` filled in: counts that fall short, absent files, given sentences.

    >>> from fedbandit.datasets.files import examples
    >>> from fedbandit.datasets.sets import magic
    >>> with examples.folder("magic") as path:
    ...     data = magic.load(path)
    ...     with_missing(data, magic.DESCRIPTION, Release.open("magic", path), "a sentence").missing[-1]
    'a sentence'
    """
    short = shortfalls(description.expected, loaded.counts())
    absent = [f"{file} is not here" for file in description.files if not release.has(file)]
    return replace(loaded, missing=(*short, *absent, *sentences))


def shortfalls(expected: Mapping[str, int], found: Mapping[str, int]) -> tuple[str, ...]:
    """Return a sentence for each count that differs from the release's.

    >>> shortfalls({"users": 10, "items": 5}, {"users": 8, "items": 5})
    ('8 of the 10 users of the release are here',)
    """
    sentences = []
    for name, wanted in expected.items():
        here = found[name]
        if here < wanted:
            sentences.append(f"{here:,} of the {wanted:,} {name} of the release are here")
        elif here > wanted:
            sentences.append(f"{here:,} {name} are here, more than the {wanted:,} of the release")
    return tuple(sentences)

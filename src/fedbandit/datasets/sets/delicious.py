"""HetRec 2011 Delicious: which URLs users bookmarked, with which tags, and whom they follow.

Cantador, Brusilovsky and Kuflik (2011), 2nd HetRec workshop, RecSys 2011. Tab separated, one header line,
tags.dat is ISO-8859-1. The release keeps a bookmark only with its tags (user_taggedbookmarks.dat). A partial
copy may add user_bookmarks.dat, a list of (user, URL) pairs some of which have no tags there; both count.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import scipy

from fedbandit.datasets.arrays import Booleans, Ints, Strings
from fedbandit.datasets.description import Description, Download, with_missing
from fedbandit.datasets.files.folders import find
from fedbandit.datasets.files.release import Release
from fedbandit.datasets.files.tables import Table, optional_integers, optional_names
from fedbandit.datasets.interactions import UNKNOWN_TIME, Interactions, count_matrix, interactions, positions

DESCRIPTION = Description(
    name="delicious",
    title="HetRec 2011 Delicious: bookmarks, tags and contacts of 1,867 users",
    publisher="I. Cantador, P. Brusilovsky, T. Kuflik (HetRec 2011), hosted by GroupLens; source Delicious",
    terms="non-commercial use, as its readme states; cite the Delicious website",
    page="https://grouplens.org/datasets/hetrec-2011/",
    downloads=(Download("https://files.grouplens.org/datasets/hetrec2011/hetrec2011-delicious-2k.zip"),),
    files=(
        "bookmarks.dat",
        "bookmark_tags.dat",
        "tags.dat",
        "user_taggedbookmarks.dat",
        "user_taggedbookmarks-timestamps.dat",
        "user_contacts.dat",
        "user_contacts-timestamps.dat",
    ),
    anchors=("user_taggedbookmarks.dat", "user_bookmarks.dat"),
    homes=("hetrec2011-delicious-2k", "hetrec2011-delicious-2k-part.zip", "hetrec2011-delicious-2k-part"),
    expected={
        "users": 1_867,
        "URLs": 69_226,
        "bookmarks": 104_799,
        "tag assignments": 437_593,
        "tags": 53_388,
        "contact pairs": 15_328,
    },
)

TIME_COLUMNS = ("day", "month", "year", "hour", "minute", "second")


@dataclass(frozen=True, eq=False)
class Delicious:
    """Delicious as arrays.

    `bookmarking` has one event for each distinct (user, URL) pair, by user and URL, with the time of its
    first tag where known. Tag assignment k is user `tagging_user[k]`, URL `tagging_url[k]`, tag
    `tagging_tag[k]` (positions). `contacts` has a pair of user positions in each row.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("delicious") as path:
    ...     data = load(path)
    >>> data.counts()["bookmarks"], str(data.tag_names[data.tagging_tag[0]])
    (4, 'café')
    """

    bookmarking: Interactions
    tag_names: Strings
    tagging_user: Ints
    tagging_url: Ints
    tagging_tag: Ints
    contacts: Ints
    missing: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Return the counts that the release's readme states, recomputed."""
        return {
            "users": self.bookmarking.users.size,
            "URLs": self.bookmarking.items.size,
            "bookmarks": len(self.bookmarking),
            "tag assignments": self.tagging_tag.size,
            "tags": self.tag_names.size,
            "contact pairs": len(self.contacts),
        }

    def tag_counts(self) -> scipy.sparse.csr_array:
        """Return the (URLs, tags) matrix of how many users gave a URL a tag."""
        shape = (self.bookmarking.items.size, self.tag_names.size)
        return count_matrix(self.tagging_url, self.tagging_tag, shape)

    def tagged_urls(self) -> Booleans:
        """Return for each URL whether it has a tag; only those have features."""
        return np.bincount(self.tagging_url, minlength=self.bookmarking.items.size) > 0


def load(path: str | os.PathLike[str] | None = None) -> Delicious:
    """Read Delicious from `path` (folder or official zip), else from where data sets are kept.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("delicious") as path:
    ...     len(load(path).contacts)
    2
    """
    release = find(DESCRIPTION, path)
    tag_ids, tag_names = optional_names(release, "tags.dat", ("id", "value"), "iso-8859-1")
    tagging, tagging_time = _tagging(release)
    listed = optional_integers(release, "user_bookmarks.dat", ("userID", "bookmarkID"))
    contacts = optional_integers(release, "user_contacts.dat", ("userID", "contactID", *_dated("date_")))[:, :2]
    pair_user = np.concatenate([tagging[:, 0], listed[:, 0]])
    pair_url = np.concatenate([tagging[:, 1], listed[:, 1]])
    times = np.concatenate([tagging_time, np.full(len(listed), UNKNOWN_TIME, dtype=np.int64)])
    users, urls = np.union1d(pair_user, contacts.ravel()), np.unique(pair_url)
    loaded = Delicious(
        bookmarking=_distinct(interactions(pair_user, pair_url, time=times, users=users, items=urls)),
        tag_names=tag_names,
        tagging_user=positions(tagging[:, 0], users)[1],
        tagging_url=positions(tagging[:, 1], urls)[1],
        tagging_tag=positions(tagging[:, 2], tag_ids)[1],
        contacts=positions(contacts, users)[1],
    )
    return with_missing(loaded, DESCRIPTION, release, *_untagged(loaded))


def _untagged(loaded: Delicious) -> list[str]:
    """The release has no bookmark without a tag, and no tag without a bookmark."""
    bookmarks, tags = len(loaded.bookmarking), loaded.tag_names.size
    pairs = np.unique(np.stack([loaded.tagging_user, loaded.tagging_url]), axis=1).shape[1]
    assigned = np.unique(loaded.tagging_tag).size
    sentences = []
    if pairs < bookmarks:
        sentences.append(f"{bookmarks - pairs:,} of the {bookmarks:,} bookmarks here have no tags")
    if assigned < tags:
        sentences.append(f"{assigned:,} of the {tags:,} tags are assigned to something")
    return sentences


def _tagging(release: Release) -> tuple[Ints, Ints]:
    """Return ((n, 3) user, URL and tag ids, times); the partial copy lacks the time columns."""
    file = "user_taggedbookmarks.dat"
    if not release.has(file):
        return np.empty((0, 3), dtype=np.int64), np.empty(0, dtype=np.int64)
    table = Table.open(release, file, header=("userID", "bookmarkID", "tagID"))
    columns = table.integers(len(table.header))
    if table.header[3:] != TIME_COLUMNS:
        return columns[:, :3], np.full(len(columns), UNKNOWN_TIME, dtype=np.int64)
    day, month, year, hour, minute, second = columns[:, 3:].T
    months = (year - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (month - 1)
    days = months.astype("datetime64[D]").astype(np.int64) + (day - 1)
    return columns[:, :3], ((days * 24 + hour) * 60 + minute) * 60 + second


def _dated(prefix: str) -> tuple[str, ...]:
    return tuple(prefix + name for name in TIME_COLUMNS)


def _distinct(events: Interactions) -> Interactions:
    """Keep the first known time of each (user, URL) pair."""
    late = np.iinfo(np.int64).max
    when = np.where(events.time == UNKNOWN_TIME, late, events.time)
    order = np.lexsort((when, events.item, events.user))
    user, item = events.user[order], events.item[order]
    first = np.ones(order.size, dtype=np.bool_)
    first[1:] = (user[1:] != user[:-1]) | (item[1:] != item[:-1])
    return events.where(order[first])

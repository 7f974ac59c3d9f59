"""HetRec 2011 LastFM: who listened to whom, who tagged whom with what, who is whose friend.

Cantador, Brusilovsky and Kuflik (2011), 2nd HetRec workshop, RecSys 2011. Tab separated, one header line;
artists.dat is UTF-8, tags.dat ISO-8859-1.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import scipy

from fedbandit.datasets.arrays import Dates, Ints, Strings
from fedbandit.datasets.description import Description, Download, with_missing
from fedbandit.datasets.files.folders import find
from fedbandit.datasets.files.tables import Table, optional_integers, optional_names
from fedbandit.datasets.interactions import Interactions, aligned, count_matrix, interactions, positions

DESCRIPTION = Description(
    name="lastfm",
    title="HetRec 2011 LastFM: listening, tags and friends of 1,892 users",
    publisher="I. Cantador, P. Brusilovsky, T. Kuflik (HetRec 2011), hosted by GroupLens; source Last.fm",
    terms="non-commercial use, as its readme states; cite the Last.fm website",
    page="https://grouplens.org/datasets/hetrec-2011/",
    downloads=(
        Download(
            "https://files.grouplens.org/datasets/hetrec2011/hetrec2011-lastfm-2k.zip",
            "sha256:6738f48195667ff03caaab4d32ca9a3133d8cc026b7c3cdaf6ce1010e913c59c",
        ),
    ),
    files=(
        "artists.dat",
        "tags.dat",
        "user_artists.dat",
        "user_taggedartists.dat",
        "user_taggedartists-timestamps.dat",
        "user_friends.dat",
    ),
    anchors=("user_artists.dat",),
    homes=("hetrec2011-lastfm-2k",),
    expected={
        "users": 1_892,
        "artists": 17_632,
        "listening relations": 92_834,
        "tag assignments": 186_479,
        "tags": 11_946,
        "friend pairs": 25_434,
    },
)


@dataclass(frozen=True, eq=False)
class LastFM:
    """LastFM as arrays.

    `listening` has a user's artists with the number of plays as value. Tag assignment k is user
    `tagging_user[k]`, artist `tagging_artist[k]`, tag `tagging_tag[k]` (positions; 390 artists were tagged
    that artists.dat lacks, their position is -1) on the day `tagging_date[k]`. `friends` has a pair of user
    positions in each row.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("lastfm") as path:
    ...     data = load(path)
    >>> data.counts()["artists"], str(data.artist_names[data.listening.item[0]])
    (3, 'Sigur Rós')
    """

    listening: Interactions
    artist_names: Strings
    tag_names: Strings
    tagging_user: Ints
    tagging_artist: Ints
    tagging_tag: Ints
    tagging_date: Dates
    friends: Ints
    missing: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Return the counts that the release's readme states, recomputed."""
        return {
            "users": self.listening.users.size,
            "artists": self.listening.items.size,
            "listening relations": len(self.listening),
            "tag assignments": self.tagging_tag.size,
            "tags": self.tag_names.size,
            "friend pairs": len(self.friends),
        }

    def tag_counts(self) -> scipy.sparse.csr_array:
        """Return the (artists, tags) matrix of how many users gave an artist a tag."""
        shape = (self.listening.items.size, self.tag_names.size)
        return count_matrix(self.tagging_artist, self.tagging_tag, shape)


def load(path: str | os.PathLike[str] | None = None) -> LastFM:
    """Read LastFM from `path` (folder or official zip), else from where data sets are kept.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("lastfm") as path:
    ...     len(load(path).listening)
    4
    """
    release = find(DESCRIPTION, path)
    header = ("id", "name", "url", "pictureURL")
    artist_ids, artist_names = optional_names(release, "artists.dat", header, "utf-8")
    tag_ids, tag_names = optional_names(release, "tags.dat", ("tagID", "tagValue"), "iso-8859-1")
    plays = Table.open(release, "user_artists.dat", header=("userID", "artistID", "weight")).integers(3)
    columns = ("userID", "artistID", "tagID", "day", "month", "year")
    tagging = optional_integers(release, "user_taggedartists.dat", columns)
    friends = optional_integers(release, "user_friends.dat", ("userID", "friendID"))
    users, artists = np.unique(plays[:, 0]), np.union1d(artist_ids, plays[:, 1])
    loaded = LastFM(
        listening=interactions(plays[:, 0], plays[:, 1], plays[:, 2].astype(float), users=users, items=artists),
        artist_names=aligned(artists, artist_ids, artist_names),
        tag_names=tag_names,
        tagging_user=positions(tagging[:, 0], users)[1],
        tagging_artist=positions(tagging[:, 1], artists)[1],
        tagging_tag=positions(tagging[:, 2], tag_ids)[1],
        tagging_date=_dates(tagging[:, 3], tagging[:, 4], tagging[:, 5]),
        friends=positions(friends, users)[1],
    )
    return with_missing(loaded, DESCRIPTION, release)


def _dates(day: Ints, month: Ints, year: Ints) -> Dates:
    months = (year - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (month - 1)
    days: Dates = months.astype("datetime64[D]") + (day - 1).astype("timedelta64[D]")
    return days

"""What a site tells of itself when it asks.

    epoch u64 | settled u64 | mark u64 | waiting u32 | fingerprint u64 [| features u64 [| revision u64]]

A site leaves out the last numbers as far as they are 0: features, and the revision of the charter.
"""

from __future__ import annotations

from typing import NamedTuple


class Question(NamedTuple):
    """What a site tells in an ASK, beside the last download that it has."""

    epoch: int  # of its uploads
    settled: int  # all of them up to this number were acknowledged
    mark: int  # the life of the site, which the answer repeats
    waiting: int = 0  # uploads that were not acknowledged
    fingerprint: int = 0  # of the charter; 0: not told
    features: int = 0  # the fingerprint of their declaration; 0: the site is handed vectors
    revision: int = 0  # of the charter: see `protocol.revisions`

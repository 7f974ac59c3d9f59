"""Words of titles, tags and genres, counted for TF-IDF."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import scipy

from fedbandit.core.errors import InvalidInput
from fedbandit.datasets.interactions import count_matrix

WORD = re.compile(r"\w\w+")
# The commonest function words: they tell nothing about an item, and titles are full of them.
COMMONEST = """
    an and are as at be but by for from had has have he her his if in into is it its me my no not of on or our
    she so than that the their them then there they this to too was we were what when where which who will
    with you your
"""
STOP_WORDS = frozenset(COMMONEST.split())


def words(text: str) -> list[str]:
    """Return the words of a text: lower case, two characters or more, without the commonest.

    >>> words("The Lord of the Rings: Sci-Fi (2001)")
    ['lord', 'rings', 'sci', 'fi', '2001']
    """
    return [word for word in WORD.findall(text.lower()) if word not in STOP_WORDS]


def word_counts(parts: Iterable[tuple[scipy.sparse.csr_array, Sequence[str]]]) -> scipy.sparse.csr_array:
    """Return (items, words) counts; a part is an (items, texts) matrix of weights and the texts.

    >>> weights = scipy.sparse.csr_array(np.array([[2.0, 0.0], [1.0, 1.0]]))
    >>> word_counts([(weights, ["good film", "noir film"])]).toarray().tolist()
    [[2.0, 2.0, 0.0], [2.0, 1.0, 1.0]]
    """
    parts = list(parts)
    if not parts:
        raise InvalidInput("sources must name at least one source of words, not none: give for example 'genres'")
    listed = [[words(text) for text in texts] for _, texts in parts]
    known = sorted({word for texts in listed for text in texts for word in text})
    column = {word: index for index, word in enumerate(known)}
    total = scipy.sparse.csr_array((parts[0][0].shape[0], len(known)))
    for (weights, _), texts in zip(parts, listed, strict=True):
        row = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
        place = np.array([column[word] for text in texts for word in text], dtype=np.int64)
        total = total + weights @ count_matrix(row, place, (len(texts), len(known)))
    return scipy.sparse.csr_array(total)

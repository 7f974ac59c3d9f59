"""From counts and rows to the features that environments show to algorithms."""

from __future__ import annotations

import numpy as np
import scipy

from fedbandit.core.errors import InvalidInput
from fedbandit.datasets.arrays import Floats, Ints


def tf_idf(counts: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Return the TF-IDF weights of an (items, terms) matrix of counts, with rows of unit length.

    weight = count * (log((1 + n) / (1 + df)) + 1) for n items, df of which have the term; rows without any
    term stay zero. (Salton's weights in the smoothed form that text libraries use.)

    >>> counts = scipy.sparse.csr_array(np.array([[3.0, 0.0], [1.0, 1.0], [0.0, 0.0]]))
    >>> tf_idf(counts).toarray().round(3).tolist()
    [[1.0, 0.0], [0.605, 0.796], [0.0, 0.0]]
    """
    items, terms = counts.shape
    having = np.bincount(counts.indices[counts.data != 0], minlength=terms)
    rarity = np.log((1.0 + items) / (1.0 + having)) + 1.0
    weighted = scipy.sparse.csr_array(counts.astype(np.float64) @ scipy.sparse.diags_array(rarity))
    lengths = np.sqrt(weighted.multiply(weighted).sum(axis=1))
    scale = np.divide(1.0, lengths, out=np.zeros(items), where=lengths > 0)
    return scipy.sparse.csr_array(scipy.sparse.diags_array(scale) @ weighted)


def truncated_svd(matrix: scipy.sparse.csr_array | Floats, dimension: int) -> Floats:
    """Return U S of the best approximation U S V^T of rank `dimension`: a row of features for each row.

    Columns come by falling singular value. The result is the same on every run: the iteration starts from a
    fixed vector, and each column's sign makes its entry of largest magnitude positive.

    >>> truncated_svd(np.array([[3.0, 0.0], [0.0, -2.0], [0.0, 0.0]]), 2).round(6).tolist()
    [[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]]
    """
    rows, columns = matrix.shape
    if not 1 <= dimension <= min(rows, columns):
        raise InvalidInput(
            f"dimension must be from 1 to {min(rows, columns)}, not {dimension}: the matrix is {rows} x "
            f"{columns}, so lower it or add columns (for MovieLens without tags, the words of the titles)"
        )
    if min(rows, columns) <= 4 * dimension:
        # The iterative solver wants far more columns than it computes; matrices as small as this fit it
        # whole.
        dense = matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix, dtype=np.float64)
        left, values, _ = np.linalg.svd(dense, full_matrices=False)
    else:
        start = np.full(min(rows, columns), 1.0 / np.sqrt(min(rows, columns)))
        from scipy.sparse.linalg import svds  # only those who have large matrices pay for the import

        left, values, _ = svds(matrix.astype(np.float64), k=dimension, v0=start)
    order = np.argsort(-values, kind="stable")[:dimension]
    scaled: Floats = left[:, order] * values[order]
    return scaled * _signs(scaled)


def tag_features(counts: scipy.sparse.csr_array, dimension: int) -> Floats:
    """Return `dimension` features for each item of an (items, tags) matrix of counts: TF-IDF, truncated SVD.

    >>> counts = scipy.sparse.csr_array(np.array([[3.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 2.0, 2.0]]))
    >>> tag_features(counts, 2).shape
    (3, 2)
    """
    return truncated_svd(tf_idf(counts), dimension)


def standardised(rows: Floats) -> Floats:
    """Return the rows with columns of mean 0 and standard deviation 1; constant columns become 0.

    >>> standardised(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    centred = rows - rows.mean(axis=0)
    spread = centred.std(axis=0)
    # Rounding leaves a constant column with a spread of about 1e-16 times its size, which must not be blown
    # up.
    varies = spread > 1e-12 * np.maximum(1.0, np.abs(rows).max(axis=0, initial=0.0))
    scaled: Floats = np.divide(centred, spread, out=np.zeros_like(centred), where=varies)
    return scaled


def unit_rows(rows: Floats) -> Floats:
    """Return each row divided by its length; zero rows stay zero.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled


def block_one_hot(contexts: Floats, arms: int) -> Floats:
    """Return (rows, arms, arms * d): arm k of a row has the row's context in block k and 0 elsewhere.

    The usual way from classification to contextual bandits (FN-UCB, section 5.2).

    >>> block_one_hot(np.array([[1.0, 2.0]]), arms=2).tolist()
    [[[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0]]]
    """
    if arms < 1:
        raise InvalidInput(f"arms must be at least 1, not {arms}: give the number of classes")
    rows, width = contexts.shape
    blocks = np.zeros((rows, arms, arms, width))
    each: Ints = np.arange(arms)
    blocks[:, each, each, :] = contexts[:, None, :]
    return blocks.reshape(rows, arms, arms * width)


def _signs(columns: Floats) -> Floats:
    largest = np.abs(columns).argmax(axis=0)
    return np.where(columns[largest, np.arange(columns.shape[1])] < 0, -1.0, 1.0)

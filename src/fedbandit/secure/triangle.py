"""Symmetric matrices as their upper triangles, row by row: of each pair of equal numbers one is masked."""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Floats


class Triangle:
    """The upper triangle of matrices of a size.

    >>> triangle = Triangle(size=2)
    >>> triangle.packed(np.array([[1.0, 2.0], [2.0, 3.0]]))
    array([1., 2., 3.])
    >>> triangle.matrix(np.array([1.0, 2.0, 3.0]))
    array([[1., 2.],
           [2., 3.]])
    """

    def __init__(self, size: int) -> None:
        """Take the size."""
        self.size = size
        self.upper = np.triu_indices(size)
        self.words = size * (size + 1) // 2

    def packed(self, matrix: Floats) -> Floats:
        """Return the triangle of a matrix."""
        return np.asarray(matrix[self.upper], dtype=np.float64)

    def matrix(self, words: Floats) -> Floats:
        """Return the matrix of a triangle."""
        matrix = np.zeros((self.size, self.size))
        matrix[self.upper] = words
        matrix.T[self.upper] = words
        return matrix

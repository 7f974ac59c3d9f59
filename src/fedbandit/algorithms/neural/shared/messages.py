"""What the neural family sends: the contents of FN-UCB's lines 16 and 17, counted as in section 3.4.

`p` is p_0, the number of the network's parameters. A contribution names the call that it answers (`version`): one that
comes after its round was closed is summed up and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds, check_counts
from fedbandit.core.errors import ProtocolError
from fedbandit.core.messages import Download, Layout, Upload, array, header

if TYPE_CHECKING:
    from fedbandit.algorithms.neural.shared.compact_arrays import CompactArray
    from fedbandit.kernels.neural import arrays

    Numbers = arrays.Numbers | CompactArray  # as they are, or not yet written out


@dataclass(frozen=True)
class SyncRequest(Upload, kind="neural.request"):
    """A client has learnt enough since the version that it names (line 12): a signal."""

    version: Ints = header()

    def check(self, bounds: Bounds) -> None:  # noqa: ARG002
        """Refuse what is no number of a version."""
        check_counts(version=self.version)


@dataclass(frozen=True)
class Call(Download, kind="neural.call"):
    """The server starts a communication round (algorithm 2, line 2): a signal."""

    version: int = header()


@dataclass(frozen=True)
class Contribution(Upload, kind="neural.contribution"):
    """What a client sends in a communication round (line 16)."""

    gram: Numbers = array(Layout.SYMMETRIC, shape=("p", "p"))  # W_new,i
    moment: Numbers = array(shape=("p",))  # B_new,i
    weights: Numbers = array(shape=("p",))  # theta_t^i
    ratio: Floats = array(shape=())  # alpha_t,i
    inverse: Numbers = array(Layout.SYMMETRIC, shape=("p", "p"))  # (V_local)^-1
    version: Ints = header()  # of the call
    observations: Ints = header()  # that the sums are over

    def check(self, bounds: Bounds) -> None:
        """Refuse what is no sum of phi phi^T and y phi over n observations, no inverse, or no ratio.

        The matrices are positive semi-definite, trace(W_new) <= n |phi|^2, 0 <= alpha <= 1, and of each coordinate a
        |sum y phi_a| <= R sqrt(n sum phi_a^2), by Cauchy and Schwarz.
        """
        if ((self.ratio < 0) | (self.ratio > 1)).any():
            raise ProtocolError(f"the ratio is {self.ratio.tolist()}, not from 0 to 1")
        check_counts(version=self.version, observations=self.observations)
        grams, moments = np.asarray(self.gram), np.asarray(self.moment)
        for name, matrices in (("gram matrix", grams), ("inverse", np.asarray(self.inverse))):
            self.check_matrix(name, matrices)
        for gram, moment, observations in zip(grams, moments, self.observations.tolist(), strict=True):
            if not observations and (gram.any() or moment.any()):
                raise ProtocolError("sums that are not zero, of no observations")
            squares = self.squares(gram).astype(np.float64) / max(1, observations)
            if squares.sum() > bounds.context**2:
                raise ProtocolError(
                    f"the trace of the gram matrix is {squares.sum() * observations:g}, more than {observations} "
                    f"features of length {bounds.context:g} can have"
                )
            mean = np.abs(moment) / max(1, observations)
            most = np.sqrt(squares.clip(0)) + _slack(gram) * np.sqrt(squares.max())
            if np.isfinite(bounds.reward) and (mean > bounds.reward * most).any():
                raise ProtocolError("the moment does not fit the gram matrix: no rewards in bounds give both")

    def new_observations(self, before: int) -> int:  # noqa: ARG002
        """Return the number that the sums are over: all of them are new."""
        return int(self.observations.sum())

    def rests_on(self, told: int) -> int:  # noqa: ARG002
        """Return the number that the sums are over."""
        return int(self.observations.sum())

    def squares(self, matrix: Floats) -> Floats:
        """Return the diagonals of matrices in this message."""
        return np.diagonal(matrix, axis1=-2, axis2=-1)

    def check_matrix(self, name: str, matrices: Floats) -> None:
        """Refuse matrices (senders, p, p) that are not positive semi-definite, as far as pairs of coordinates tell."""
        diagonal = self.squares(matrices)
        spare = _slack(matrices) * np.abs(diagonal).max(axis=-1, keepdims=True)
        _check_diagonal(name, diagonal, spare)
        lengths = np.sqrt(diagonal.clip(0))
        most = lengths[:, :, np.newaxis] * lengths[:, np.newaxis, :] + spare[:, np.newaxis]
        if (np.abs(matrices) > most).any():
            raise ProtocolError(f"the {name} is not positive semi-definite")


@dataclass(frozen=True)
class DiagonalContribution(Contribution, kind="neural.diagonal-contribution"):
    """A contribution whose matrices are their diagonals."""

    gram: Numbers = array(shape=("p",))
    inverse: Numbers = array(shape=("p",))

    def squares(self, matrix: Floats) -> Floats:
        """Return the diagonals, which is all that there is."""
        return matrix

    def check_matrix(self, name: str, matrices: Floats) -> None:
        """Refuse diagonals that have numbers below 0."""
        _check_diagonal(name, matrices, _slack(matrices) * np.abs(matrices).max(axis=-1, keepdims=True))


@dataclass(frozen=True)
class Consensus(Download, kind="neural.consensus"):
    """What the server broadcasts (algorithm 2, line 6), with the average of the clients' inverses (section 3.4)."""

    gram: Numbers = array(Layout.SYMMETRIC, shape=("p", "p"))  # W_sync
    moment: Numbers = array(shape=("p",))  # B_sync
    weights: Numbers = array(shape=("p",))  # theta_sync,NN
    ratio: Floats = array(shape=())  # alpha
    inverse: Numbers = array(Layout.SYMMETRIC, shape=("p", "p"))
    version: int = header()


@dataclass(frozen=True)
class Inverses(Consensus, kind="neural.inverses"):
    """A consensus with the inverse of each client.

    A client that did not answer has zeros, and the inverses of the k others are times (N / k)^2: the mean over all N of
    the norms that they give is then the mean over those who answered.
    """

    inverse: Numbers = array(Layout.SYMMETRIC, shape=("N", "p", "p"))


@dataclass(frozen=True)
class DiagonalConsensus(Consensus, kind="neural.diagonal-consensus"):
    """A consensus whose matrices are their diagonals."""

    gram: Numbers = array(shape=("p",))
    inverse: Numbers = array(shape=("p",))


@dataclass(frozen=True)
class DiagonalInverses(DiagonalConsensus, kind="neural.diagonal-inverses"):
    """A consensus with the inverse of each client, all matrices being their diagonals."""

    inverse: Numbers = array(shape=("N", "p"))


def _slack(matrix: Floats) -> float:
    """Return what rounding may add, relative to the largest entry: many updates of an inverse add up."""
    return float(np.sqrt(np.finfo(matrix.dtype).eps))


def _check_diagonal(name: str, diagonal: Floats, spare: Floats) -> None:
    if (diagonal < -spare).any():
        raise ProtocolError(f"the diagonal of the {name} has {diagonal.min():g}, less than 0")

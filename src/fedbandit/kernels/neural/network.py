"""Fully connected ReLU networks, frozen where they start: theta_0, how it is laid out, and where its gradients live.

The network of FN-UCB's appendix B has no biases: f_1 = W_1 x, f_l = W_l ReLU(f_l-1), f = sqrt(m) f_L. It begins
block-symmetric, W_l = (W 0; 0 W) with entries from N(0, 4/m) and W_L = (w, -w) from N(0, 2/m), so that f(x; theta_0)
is 0 on contexts whose halves are equal: a context x is shown to it as (x, x) / sqrt(2), and p_0 is
m (2d + m (depth - 1) + 1).

There, and only there, both halves of every layer carry the same numbers up to a sign. Every entry of the gradient
of a hidden layer occurs four times (two halves in, two halves out, the sign of w), every entry of the last layer twice:
g(x; theta_0) lies in one and the same subspace for every x. In an orthonormal basis of it, g has about p_0 / 4
coordinates, and p_0 x p_0 matrices of gradients about p_0^2 / 16. Nothing is lost: `Network.copy_of` and
`Network.share` say how a gradient is written out in full.

The same holds for the input: weights that see x twice act as their sum, and descent moves both copies alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.randomness import stream


class Layer(NamedTuple):
    """One layer of the network whose gradient is taken: its weights, its biases, and how many copies each entry has."""

    weights: Floats  # (out, in)
    biases: Floats | None  # (out,)
    copies: int  # of each weight's derivative in the full gradient


@dataclass(frozen=True, eq=False)
class Network:
    """A network at theta_0.

    `pieces` are the shapes of the weight matrices (and bias vectors) that theta lists one after the other. `tangent`
    is the network that gives the coordinates u of the gradient in its subspace: entry a of the gradient is
    share[a] * u[copy_of[a]].
    """

    inputs: int  # d
    width: int  # m
    initial: Floats  # theta_0, (p_0,)
    pieces: tuple[tuple[int, ...], ...]
    biased: bool
    repeats: int  # how often the input is shown: twice by the block-symmetric network
    output_scale: float
    tangent: tuple[Layer, ...]
    copy_of: Ints  # (p_0,)
    share: Floats  # (p_0,)

    @property
    def parameters(self) -> int:
        """Return p_0, the number of parameters."""
        return self.initial.size

    @property
    def input_scale(self) -> float:
        """Return the factor that keeps the length of an input that is shown several times."""
        return 1.0 / math.sqrt(self.repeats)

    @property
    def coordinates(self) -> int:
        """Return the dimension of the subspace in which all gradients at theta_0 lie."""
        return int(self.copy_of.max()) + 1

    @property
    def copies(self) -> Ints:
        """Return how often each coordinate occurs in the full gradient."""
        return np.bincount(self.copy_of)


def symmetric_network(inputs: int, width: int, depth: int, seed: int) -> Network:
    """Return the block-symmetric network of appendix B.

    >>> network = symmetric_network(inputs=63, width=20, depth=1, seed=0)
    >>> network.parameters, network.coordinates
    (2540, 640)
    """
    if width % 2:
        raise InvalidInput(
            f"width must be even with initialisation=symmetric, whose two halves mirror each other, not {width}: "
            f"give {width + 1}"
        )
    rng = stream(seed, "network")
    half = width // 2
    sizes = [inputs] + [half] * depth
    blocks: list[Floats] = [
        rng.standard_normal((sizes[layer + 1], sizes[layer])) * math.sqrt(4 / width) for layer in range(depth)
    ]
    last = rng.standard_normal((1, half)) * math.sqrt(2 / width)
    matrices = [np.kron(np.eye(2), block) for block in blocks] + [np.hstack([last, -last])]
    layers = [Layer(block, None, copies=4) for block in blocks] + [Layer(last, None, copies=2)]
    return _assembled(inputs, width, matrices, [], 2, math.sqrt(width), layers)


def normal_network(inputs: int, width: int, depth: int, seed: int) -> Network:
    """Return a network with biases, all parameters from N(0, 1), as the authors' code begins.

    >>> network = normal_network(inputs=63, width=20, depth=1, seed=0)
    >>> network.parameters, network.coordinates
    (1301, 1301)
    """
    rng = stream(seed, "network")
    sizes = [inputs] + [width] * depth + [1]
    matrices: list[Floats] = [rng.standard_normal((sizes[layer + 1], sizes[layer])) for layer in range(depth + 1)]
    biases: list[Floats] = [rng.standard_normal(size) for size in sizes[1:]]
    layers = [Layer(matrix, bias, copies=1) for matrix, bias in zip(matrices, biases, strict=True)]
    return _assembled(inputs, width, matrices, biases, 1, 1.0, layers)


def _assembled(
    inputs: int,
    width: int,
    matrices: list[Floats],
    biases: list[Floats],
    repeats: int,
    output_scale: float,
    layers: list[Layer],
) -> Network:
    pieces = [piece for layer in range(len(matrices)) for piece in (matrices[layer], *biases[layer : layer + 1])]
    places = [_places(matrices[layer].shape, each) for layer, each in enumerate(layers)]
    copy_of, share = [], []
    offset = 0
    for layer, (place, part) in zip(layers, places, strict=True):
        copy_of.append(place + offset)
        share.append(part)
        offset += layer.weights.size
        if layer.biases is not None:
            copy_of.append(np.arange(layer.biases.size) + offset)
            share.append(np.ones(layer.biases.size))
            offset += layer.biases.size
    initial = np.concatenate([piece.ravel() for piece in pieces])
    initial.flags.writeable = False  # theta_0 never changes
    return Network(
        inputs=inputs,
        width=width,
        initial=initial,
        pieces=tuple(piece.shape for piece in pieces),
        biased=bool(biases),
        repeats=repeats,
        output_scale=output_scale,
        tangent=tuple(layers),
        copy_of=np.concatenate(copy_of),
        share=np.concatenate(share),
    )


def _places(shape: tuple[int, ...], layer: Layer) -> tuple[Ints, Floats]:
    """Return, for each entry of a full matrix, the entry of the tangent layer that it copies, and its share."""
    out, into = layer.weights.shape
    rows, columns = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
    place = (rows % out) * into + columns % into
    lower_half = rows >= out  # behind -w the derivatives have the other sign
    return place, np.where(lower_half, -1.0, 1.0) / math.sqrt(layer.copies)

"""How large what clients of the neural family send can be: what no honest client exceeds."""

from __future__ import annotations

import math

import numpy as np

from fedbandit.kernels.neural.network import Network

ROUNDING = 1e-3  # relative: of sums in single precision
DRIFT = 1000.0  # no training that has not diverged takes weights so many times as far from zero as they began


def longest_features(network: Network, scale: float, context: float) -> float:
    """Return a bound on |g(x; theta_0)| times `scale`, for contexts no longer than `context`.

    The gradient with respect to W_l is delta_l h_(l-1)^T. With |W| the spectral norm and ReLU no longer than what it is
    of, |h_l| <= |W_l| |h_(l-1)| + |b_l| and |delta_(l-1)| <= |W_l| |delta_l|.
    """
    layers = network.tangent
    norms = [float(np.linalg.norm(layer.weights, 2)) for layer in layers]
    lengths = [context * network.input_scale]
    for layer, norm in zip(layers[:-1], norms, strict=False):
        bias = 0.0 if layer.biases is None else float(np.linalg.norm(layer.biases))
        lengths.append(norm * lengths[-1] + bias)
    delta, square = network.output_scale * scale, 0.0
    for layer, norm, length in reversed(list(zip(layers, norms, lengths, strict=True))):
        square += layer.copies * (delta * length) ** 2 + (0.0 if layer.biases is None else delta**2)
        delta *= norm
    return math.sqrt(square) * (1.0 + ROUNDING)


def longest_weights(network: Network, reward: float) -> float:
    """Return a length that trained weights do not have, for rewards up to `reward`: a judgement, not a theorem."""
    return DRIFT * (1.0 + float(np.linalg.norm(network.initial)) + reward)

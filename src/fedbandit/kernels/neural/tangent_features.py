"""Tangent features g(x; theta_0) / sqrt(m), and predictions f(x; theta), for any number of contexts in one pass.

For one layer the gradient with respect to W_l is delta_l h_(l-1)^T, with h the activations and delta the derivative of
the output with respect to f_l: one forward and one backward pass give it for every context at once.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from fedbandit.core.arrays import Floats
from fedbandit.kernels.neural.arrays import Array
from fedbandit.kernels.neural.network import Network


def features(network: Network, scale: float, contexts: Array) -> Array:
    """Return the coordinates of `scale` times the gradient at theta_0, for contexts of shape (..., d)."""
    flat = contexts.reshape(-1, network.inputs)
    layers = network.tangent
    activations = [flat * network.input_scale]
    slopes = []
    for layer in layers[:-1]:
        before = _affine(layer.weights, layer.biases, activations[-1])
        slopes.append((before > 0).astype(flat.dtype))
        activations.append(jnp.maximum(before, 0))
    delta = jnp.full((len(flat), 1), network.output_scale * scale, flat.dtype)
    parts: list[Array] = []
    for place in range(len(layers) - 1, -1, -1):
        layer = layers[place]
        outer = math.sqrt(layer.copies) * delta[:, :, None] * activations[place][:, None, :]
        parts = [outer.reshape(len(flat), -1), *([] if layer.biases is None else [delta]), *parts]
        if place:
            delta = (delta @ jnp.asarray(layer.weights, flat.dtype)) * slopes[place - 1]
    return jnp.concatenate(parts, axis=1).reshape(*contexts.shape[:-1], network.coordinates)


def _affine(weights: Floats, biases: Floats | None, rows: Array) -> Array:
    before = rows @ jnp.asarray(weights, rows.dtype).T
    return before if biases is None else before + jnp.asarray(biases, rows.dtype)


def layers_of(network: Network, theta: Array) -> list[Array]:
    """Return the weights (and biases) that one theta lists, the first folded to the d inputs that are distinct."""
    pieces = []
    start = 0
    for shape in network.pieces:
        size = math.prod(shape)
        pieces.append(theta[start : start + size].reshape(shape))
        start += size
    repeated = pieces[0].reshape(network.width, network.repeats, network.inputs)
    return [repeated.sum(axis=1) * network.input_scale, *pieces[1:]]


def theta_of(network: Network, layers: list[Array], before: Array, kept: Array) -> Array:
    """Return theta with new layers.

    What the copies of a repeated input differ by does not act on the output; of it the fraction `kept` remains.
    """
    size = math.prod(network.pieces[0])
    repeated = before[:size].reshape(network.width, network.repeats, network.inputs)
    apart = repeated - repeated.mean(axis=1, keepdims=True)
    first = layers[0][:, None, :] * network.input_scale + kept * apart
    return jnp.concatenate([first.ravel(), *(layer.ravel() for layer in layers[1:])])


def outputs(network: Network, layers: list[Array], columns: Array) -> tuple[list[Array], list[Array], Array]:
    """Return the activations and pre-activations of every hidden layer, and f, for contexts as columns (d, n)."""
    step = 2 if network.biased else 1
    hidden, before = [columns], []
    for place in range(0, len(layers) - step, step):
        now = layers[place] @ hidden[-1]
        if network.biased:
            now = now + layers[place + 1][:, None]
        before.append(now)
        hidden.append(jnp.maximum(now, 0))
    last = layers[-step][0] @ hidden[-1]
    if network.biased:
        last = last + layers[-1]
    return hidden, before, network.output_scale * last


def predict(network: Network, thetas: Array, contexts: Array) -> Array:
    """Return f(x; theta) for contexts (n, K, d) and thetas (n, p_0), or (1, p_0) for all of them."""

    def of_one(theta: Array, rows: Array) -> Array:
        return outputs(network, layers_of(network, theta), rows.T)[2]

    if len(thetas) == 1:
        flat = contexts.reshape(-1, network.inputs)
        return of_one(thetas[0], flat).reshape(contexts.shape[:-1])
    return jax.vmap(of_one)(thetas, contexts)

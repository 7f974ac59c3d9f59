"""Training: full-batch gradient descent on a client's own observations (FN-UCB, equation 1 and line 14).

    anchor   half the sum of squares + (m ridge / 2) |theta - theta_0|^2, with steps of min(rate, 1 / (m (ridge + n))):
             theorem 1's rate, above which the descent diverges. The theorem is about contexts of length 1; the
             gradients of longer ones are longer, and n is the sum of max(1, |x|^2) over the observations
    decay    mean of squares with the weight decay ridge / n of the authors' code, with steps of `rate`; at most of
             1 / (2 m), the same bound for a mean of squares, and by the mean of max(1, |x|^2) less on longer contexts

Observations lie in chunks of columns, and the descent runs over as many chunks as hold observations: no step costs
more than the observations that there are, and nothing is compiled again as they grow.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from fedbandit.kernels.neural.arrays import Array
from fedbandit.kernels.neural.network import Network
from fedbandit.kernels.neural.tangent_features import layers_of, outputs, theta_of


class Pull(NamedTuple):
    """What one step does besides fitting, for a client with n observations."""

    rate: Array  # of the step
    fit: Array  # weight of the sum of (f - y) grad f
    hold: Array  # weight of theta - centre
    to_start: float  # the centre is this times theta_0


def anchor(network: Network, ridge: float, rate: float, count: Array, load: Array) -> Pull:  # noqa: ARG001
    """Return the steps of loss (1); `load` is the n of theorem 1's rate."""
    most = 1.0 / (network.width * (ridge + load))
    return Pull(jnp.minimum(rate, most), jnp.ones_like(most), jnp.full_like(most, network.width * ridge), 1.0)


def decay(network: Network, ridge: float, rate: float, count: Array, load: Array) -> Pull:
    """Return the steps of mean squares with weight decay, for a number of observations (a float)."""
    count = jnp.maximum(count, 1)
    most = count / (2 * network.width * jnp.maximum(load, 1))
    return Pull(jnp.minimum(rate, most), 2.0 / count, ridge / count, 0.0)


REGULARISERS = {"anchor": anchor, "decay": decay}


def gradient(network: Network, layers: list[Array], columns: Array, rewards: Array, known: Array) -> list[Array]:
    """Return the sum of (f - y) grad f over the columns that are `known`."""
    hidden, before, value = outputs(network, layers, columns)
    delta = (network.output_scale * jnp.where(known, value - rewards, 0))[None, :]
    step = 2 if network.biased else 1
    found: list[Array] = []
    for place in range(len(layers) // step - 1, -1, -1):
        biases = [delta.sum(axis=1)] if network.biased else []
        found = [delta @ hidden[place].T, *biases, *found]
        if place:
            delta = jnp.where(before[place - 1] > 0, layers[place * step].T @ delta, 0)
    return found


def descend(
    network: Network, pull: Pull, steps: int, theta: Array, contexts: Array, rewards: Array, count: Array
) -> Array:
    """Return one client's theta after `steps` steps; contexts are (chunks, d, columns), rewards (chunks, columns)."""
    centre = [pull.to_start * each for each in layers_of(network, jnp.asarray(network.initial, theta.dtype))]
    size = rewards.shape[1]
    columns = jnp.arange(size)

    def of_chunk(place: Array | int, layers: list[Array]) -> list[Array]:
        return gradient(network, layers, contexts[place], rewards[place], place * size + columns < count)

    def fit(layers: list[Array]) -> list[Array]:
        if len(rewards) == 1:
            return of_chunk(0, layers)

        def add(place: Array, total: list[Array]) -> list[Array]:
            return [one + more for one, more in zip(total, of_chunk(place, layers), strict=True)]

        chunks = (count + size - 1) // size
        found: list[Array] = jax.lax.fori_loop(0, chunks, add, [jnp.zeros_like(each) for each in layers])
        return found

    def step(_: Array, layers: list[Array]) -> list[Array]:
        return [
            now - pull.rate * (pull.fit * found + pull.hold * (now - middle))
            for now, found, middle in zip(layers, fit(layers), centre, strict=True)
        ]

    trained = jax.lax.fori_loop(0, steps, step, layers_of(network, theta))
    # Copies of one input differ by something that only a decay towards zero can change.
    kept = (1.0 - pull.rate * pull.hold) ** steps if pull.to_start == 0 else jnp.ones_like(pull.rate)
    return theta_of(network, trained, theta, kept)

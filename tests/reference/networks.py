"""Literal networks, their training, and norms: what the transcriptions of the neural family share.

A network is a list of matrices (appendix B), or of pairs of a matrix and a bias vector (the authors' own).
"""

import numpy as np


class Symmetric:
    """Appendix B: no biases, f = sqrt(m) f_L, on contexts [x; x] / sqrt(2)."""

    def __init__(self, inputs, width, depth):
        self.width = width
        self.shapes = [(width, 2 * inputs)] + [(width, width)] * (depth - 1) + [(1, width)]

    def context(self, x):
        return np.concatenate([x, x]) / np.sqrt(2)

    def unpack(self, theta):
        matrices, start = [], 0
        for rows, columns in self.shapes:
            matrices.append(theta[start : start + rows * columns].reshape(rows, columns))
            start += rows * columns
        assert start == len(theta)
        return matrices

    def value_and_gradient(self, x, theta):
        """f(x; theta) and g(x; theta), by the chain rule."""
        matrices = self.unpack(theta)
        inputs, activation = [self.context(x)], []
        for matrix in matrices:
            f = matrix @ inputs[-1]
            activation.append(f)
            inputs.append(np.maximum(f, 0.0))
        value = np.sqrt(self.width) * activation[-1][0]
        back = np.array([np.sqrt(self.width)])
        pieces = []
        for layer in reversed(range(len(matrices))):
            pieces.insert(0, np.outer(back, inputs[layer]).ravel())
            if layer:
                back = (matrices[layer].T @ back) * (activation[layer - 1] > 0)
        return value, np.concatenate(pieces)


class Normal:
    """The authors' network: biases, no sqrt(m), contexts as they are. theta lists W_1, b_1, W_2, b_2, ..."""

    def __init__(self, inputs, width, depth):
        self.width = width
        sizes = [inputs] + [width] * depth + [1]
        self.shapes = [(sizes[layer + 1], sizes[layer]) for layer in range(depth + 1)]

    def unpack(self, theta):
        layers, start = [], 0
        for rows, columns in self.shapes:
            matrix = theta[start : start + rows * columns].reshape(rows, columns)
            bias = theta[start + rows * columns : start + rows * columns + rows]
            layers.append((matrix, bias))
            start += rows * columns + rows
        assert start == len(theta)
        return layers

    def value_and_gradient(self, x, theta):
        layers = self.unpack(theta)
        inputs, activation = [x], []
        for matrix, bias in layers:
            f = matrix @ inputs[-1] + bias
            activation.append(f)
            inputs.append(np.maximum(f, 0.0))
        back = np.array([1.0])
        pieces = []
        for layer in reversed(range(len(layers))):
            pieces.insert(0, np.concatenate([np.outer(back, inputs[layer]).ravel(), back]))
            if layer:
                back = (layers[layer][0].T @ back) * (activation[layer - 1] > 0)
        return activation[-1][0], np.concatenate(pieces)


NETWORKS = {"symmetric": Symmetric, "normal": Normal}


def train(network, theta, theta_0, history, *, ridge, train_steps, train_rate, regulariser, rate_bound):
    """Line 14: full-batch gradient descent on equation (1), or the authors' mean of squares with weight decay.

    The rate of theorem 1, for contexts of length 1; a longer one counts as |x|^2 of them unless rate_bound is "count".
    """
    theta = theta.copy()
    n = len(history)
    load = n if rate_bound == "count" else sum(max(1.0, x @ x) for x, _ in history)
    for _ in range(train_steps):
        fit = np.zeros_like(theta)
        for x, y in history:
            value, gradient = network.value_and_gradient(x, theta)
            fit += (value - y) * gradient
        if regulariser == "anchor":
            rate = min(train_rate, 1 / (network.width * (ridge + load)))
            theta = theta - rate * (fit + network.width * ridge * (theta - theta_0))
        else:
            rate = min(train_rate, n / (2 * network.width * load))
            theta = theta - rate * (2 / n * fit + ridge / n * theta)
    return theta


def norm(feature, inverse):
    """|feature| in the norm of a matrix, which may be given by its diagonal."""
    square = feature**2 @ inverse if inverse.ndim == 1 else feature @ inverse @ feature
    return np.sqrt(square)


def rescaled(values):
    """Footnote 4: to [0, 1] over the arms; a constant gives 0."""
    low, high = min(values), max(values)
    if high - low <= 1e-9 * max(1.0, abs(high)):
        return [0.0 for _ in values]
    return [(value - low) / (high - low) for value in values]

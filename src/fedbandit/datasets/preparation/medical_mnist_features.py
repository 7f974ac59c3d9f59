"""Features of the Medical MNIST images: the last hidden layer of a small network that was trained to tell the classes.

Wang, Li and Lin 2023 (appendix F.3) train 10800-4000-2000-1000-500-6 with ReLU on 60 x 60 x 3 inputs: plain gradient
descent at rate 0.01, batches of 32, 10 epochs, nine tenths of the images; about 99 % of the others come out right.
The images are grey, so two of the three channels are copies, and half the resolution is enough: 900-500-500-6 trained
in the same way gets as many right on the held-out tenth, in seconds. Features are kept in the cache, under a name
that is a digest of images, labels and recipe.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fedbandit.core.randomness import stream
from fedbandit.datasets.arrays import Booleans, Ints
from fedbandit.datasets.files.array_cache import Arrays, kept
from fedbandit.datasets.sets.medical_mnist import MedicalMNIST
from fedbandit.files.cache_folder import cache_folder

FORMAT = 1  # raise it when the same recipe would give other features
SIDE = 60
Singles = NDArray[np.float32]
Progress = Callable[[int, int], None]  # epochs done, epochs in all


@dataclass(frozen=True)
class Recipe:
    """How the network is built and trained."""

    hidden: tuple[int, ...] = (500, 500)
    shrink: int = 2  # squares of so many pixels become one
    rate: float = 0.01
    batch: int = 32
    epochs: int = 10
    held_out: float = 0.1
    seed: int = 0


class Learned(NamedTuple):
    """The last hidden layer for every image, and how well the classes were told."""

    features: Singles
    labels: Ints
    is_held_out: Booleans
    right_in_training: float
    right_held_out: float


class Network:
    """A fully connected network with ReLU, trained by plain stochastic gradient descent on cross-entropy.

    >>> network = Network((2, 4, 3), np.random.default_rng(0))
    >>> [layer.shape for layer in network.layers(np.ones((5, 2), dtype=np.float32))]
    [(5, 2), (5, 4), (5, 3)]
    """

    def __init__(self, sizes: tuple[int, ...], rng: np.random.Generator) -> None:
        """Draw the weights, uniform with variance 2 / inputs (He et al. 2015)."""
        shapes = list(pairwise(sizes))
        self.weights = [_single(rng.uniform(-1.0, 1.0, shape) * np.sqrt(6.0 / shape[0])) for shape in shapes]
        self.offsets = [np.zeros(shape[1], dtype=np.float32) for shape in shapes]

    def layers(self, inputs: Singles) -> list[Singles]:
        """Return the inputs and the values of every layer; the last are scores, before any softmax."""
        values = [inputs]
        for place, (weight, offset) in enumerate(zip(self.weights, self.offsets, strict=True)):
            scores = values[-1] @ weight + offset
            values.append(scores if place == len(self.weights) - 1 else np.maximum(scores, 0))
        return values

    def descend(self, inputs: Singles, labels: Ints, rate: float) -> None:
        """Take one step against the gradient of the batch's mean cross-entropy."""
        values = self.layers(inputs)
        odds = np.exp(values[-1] - values[-1].max(axis=1, keepdims=True))
        slope = odds / odds.sum(axis=1, keepdims=True)
        slope[np.arange(len(labels)), labels] -= 1
        slope *= np.float32(rate / len(labels))
        for place in range(len(self.weights) - 1, -1, -1):
            change, shift = values[place].T @ slope, slope.sum(axis=0)
            slope = (slope @ self.weights[place].T) * (values[place] > 0)
            self.weights[place] -= change
            self.offsets[place] -= shift


def learn(inputs: Singles, labels: Ints, recipe: Recipe, progress: Progress | None = None) -> Learned:
    """Train the network on all rows but the held-out ones; return the last hidden layer of all of them.

    >>> rows = np.eye(4, dtype=np.float32).repeat(25, axis=0)
    >>> learned = learn(rows, np.arange(4).repeat(25), Recipe(hidden=(8,), rate=0.5))
    >>> learned.features.shape, learned.right_held_out
    ((100, 8), 1.0)
    """
    rng = stream(recipe.seed, "features")
    order = rng.permutation(len(labels))
    is_held_out = np.zeros(len(labels), dtype=np.bool_)
    is_held_out[order[: round(recipe.held_out * len(labels))]] = True
    training = np.flatnonzero(~is_held_out)
    network = Network((inputs.shape[1], *recipe.hidden, int(labels.max()) + 1), rng)
    for epoch in range(recipe.epochs):
        shuffled = rng.permutation(training)
        for first in range(0, len(shuffled), recipe.batch):
            batch = shuffled[first : first + recipe.batch]
            network.descend(inputs[batch], labels[batch], recipe.rate)
        if progress is not None:
            progress(epoch + 1, recipe.epochs)
    *_, features, scores = network.layers(inputs)
    right = scores.argmax(axis=1) == labels
    in_training, held_out = right[~is_held_out].mean(), right[is_held_out].mean() if is_held_out.any() else np.nan
    return Learned(features, labels, is_held_out, float(in_training), float(held_out))


def inputs_of(data: MedicalMNIST, shrink: int) -> Singles:
    """Return the images' central squares on [-1, 1], with squares of `shrink` x `shrink` pixels averaged."""
    side = SIDE // shrink
    shrunk = np.empty((len(data.labels), side * side), dtype=np.float32)
    for first in range(0, len(shrunk), 4096):  # the whole set at full resolution would take a gigabyte
        now = slice(first, first + 4096)
        square = data.vectors(now, side=SIDE, channels=1).reshape(-1, side, shrink, side, shrink)
        shrunk[now] = 2.0 * square.mean(axis=(2, 4)).reshape(len(square), -1) - 1.0
    return shrunk


def features_of(data: MedicalMNIST, recipe: Recipe | None = None, progress: Progress | None = None) -> Learned:
    """Return the features of a set: from the cache, or by training the network, which takes seconds."""
    chosen = recipe or Recipe()

    def train() -> Arrays:
        learned = learn(inputs_of(data, chosen.shrink), data.labels, chosen, progress)
        return {name: np.asarray(value) for name, value in learned._asdict().items()}

    arrays = kept(entry_path(data, chosen), train)
    right = float(arrays["right_in_training"]), float(arrays["right_held_out"])
    return Learned(arrays["features"], arrays["labels"], arrays["is_held_out"], *right)


def entry_path(data: MedicalMNIST, recipe: Recipe) -> Path:
    """Return the file in the cache that belongs to these images and this recipe."""
    digest = hashlib.sha256(f"{FORMAT}|{recipe}".encode())
    digest.update(np.ascontiguousarray(data.images).data)
    digest.update(np.ascontiguousarray(data.labels).data)
    return cache_folder() / "features" / f"medical-mnist-{digest.hexdigest()[:24]}.npz"


def _single(values: NDArray[np.float64]) -> Singles:
    return values.astype(np.float32)

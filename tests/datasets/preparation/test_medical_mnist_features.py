"""The network behind the Medical MNIST features: its gradient, that it learns, and that it is trained once."""

import os

import numpy as np
import pytest

from fedbandit.datasets.files import examples
from fedbandit.datasets.preparation.medical_mnist_features import (
    Network,
    Recipe,
    entry_path,
    features_of,
    inputs_of,
    learn,
)
from fedbandit.datasets.sets import medical_mnist


def blobs(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(rows) % 3
    centres = np.array([[2.0, 0.0], [-2.0, 1.0], [0.0, -2.0]])
    return (centres[labels] + 0.3 * rng.standard_normal((rows, 2))).astype(np.float32), labels


def loss(network, inputs, labels):
    scores = network.layers(inputs)[-1].astype(np.float64)
    scores -= scores.max(axis=1, keepdims=True)
    return (np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(labels)), labels]).mean()


def test_a_step_goes_against_the_gradient_of_the_cross_entropy():
    inputs, labels = blobs(30)
    network = Network((2, 5, 4, 3), np.random.default_rng(1))
    parts = [*network.weights, *network.offsets]
    before = [part.copy() for part in parts]
    network.descend(inputs, labels, rate=1.0)
    steps = [old - part for old, part in zip(before, parts, strict=True)]
    for part, old in zip(parts, before, strict=True):
        part[...] = old
    for part, step in zip(parts, steps, strict=True):
        place = np.unravel_index(np.abs(step).argmax(), step.shape)
        value, width = part[place], np.float32(1e-2)
        part[place] = value + width
        above = loss(network, inputs, labels)
        part[place] = value - width
        slope = (above - loss(network, inputs, labels)) / (2 * width)
        part[place] = value
        assert step[place] == pytest.approx(slope, rel=0.02)


def test_it_learns_to_tell_blobs_apart_and_holds_a_tenth_out():
    inputs, labels = blobs()
    learned = learn(inputs, labels, Recipe(hidden=(16, 8), rate=0.1))
    assert learned.features.shape == (300, 8)
    assert (learned.features >= 0).all()
    assert learned.is_held_out.sum() == 30
    assert learned.right_held_out > 0.95


def test_labels_of_held_out_rows_do_not_reach_the_features():
    inputs, labels = blobs()
    recipe = Recipe(hidden=(8,), epochs=1)
    first = learn(inputs, labels, recipe)
    other = labels.copy()
    other[first.is_held_out] = 0
    assert np.array_equal(learn(inputs, other, recipe).features, first.features)


def test_images_are_shrunk_by_averaging_and_centred():
    with examples.folder("medical-mnist") as path:
        data = medical_mnist.load(path)
    inputs = inputs_of(data, shrink=2)
    assert inputs.shape == (6, 900)
    square = data.images[3, 2:4, 2:4].astype(float).mean()
    assert inputs[3, 0] == pytest.approx(2 * square / 255 - 1, abs=1e-6)


def test_training_happens_once_for_the_same_images_and_recipe(tmp_path, monkeypatch):
    monkeypatch.setenv("FEDBANDIT_CACHE", str(tmp_path))
    with examples.folder("medical-mnist") as path:
        data = medical_mnist.load(path)
    recipe = Recipe(hidden=(4,), epochs=2)
    epochs = []

    def count(done, total):
        epochs.append(done)

    first = features_of(data, recipe, count)
    again = features_of(data, recipe, count)
    assert epochs == [1, 2]
    assert np.array_equal(first.features, again.features)
    assert first.right_in_training == again.right_in_training
    assert entry_path(data, recipe).is_file()
    assert entry_path(data, Recipe(hidden=(5,))) != entry_path(data, recipe)


@pytest.mark.slow
def test_on_the_official_images_the_small_network_is_as_right_as_the_papers(tmp_path, monkeypatch):
    if not os.environ.get("FEDBANDIT_DATA"):
        pytest.skip("FEDBANDIT_DATA is not set: it names the folder with the official files")
    monkeypatch.setenv("FEDBANDIT_CACHE", str(tmp_path))
    learned = features_of(medical_mnist.load())
    assert learned.features.shape[1] == 500
    assert learned.right_held_out > 0.985  # the paper: around 99 %

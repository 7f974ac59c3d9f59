"""Medical MNIST as a bandit: features of an image, six kinds of scans, and 1 for the right one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from fedbandit.core.parameters import parameter
from fedbandit.datasets.preparation.medical_mnist_features import features_of
from fedbandit.datasets.sets import medical_mnist
from fedbandit.environments.labelled import Labelled, LabelledRows

IMAGES = ("all", "held-out")


@dataclass(frozen=True)
class MedicalImages(Labelled, id="medical-mnist", title="telling six kinds of medical scans apart (Medical MNIST)"):
    """The context is the last hidden layer (500) of a network trained to tell the classes; the arms are the classes.

    The features are learnt once (`fedbandit features medical-mnist`, or the first run) and kept in the cache. As in the
    paper the bandit is shown all images, those that the network was trained on included, unless `images="held-out"`.
    """

    images: str = parameter("all", "which images are shown", choices=IMAGES)

    def data_set(self) -> tuple[str, str]:
        """Return the data set, and where it is."""
        return medical_mnist.DESCRIPTION.name, self.path

    def rows(self) -> LabelledRows:
        """Return the images' features."""
        return _features(self.place(), self.images == "held-out")


@cache
def _features(place: str, held_out_only: bool) -> LabelledRows:
    learned = features_of(medical_mnist.load(place or None))
    features, labels = learned.features, learned.labels
    if held_out_only:
        features, labels = features[learned.is_held_out], labels[learned.is_held_out]
    return LabelledRows(features, labels, len(medical_mnist.CLASS_NAMES))

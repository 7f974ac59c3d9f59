"""Medical MNIST (MedNIST): 64 x 64 grey images of six kinds of medical scans.

Collected from TCIA, the RSNA Bone Age Challenge and the NIH chest X-ray set by B. J. Erickson, Mayo Clinic.
The release is a tar of JPEG files, one folder a class. A decoded sample in one npz file (`images`,
`labels`, `class_names`, `filenames`) is read as well.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from fedbandit.core.errors import InvalidInput
from fedbandit.datasets.arrays import Ints, Strings
from fedbandit.datasets.description import Description, Download, with_missing
from fedbandit.datasets.files.array_cache import Arrays, remembered
from fedbandit.datasets.files.errors import damaged
from fedbandit.datasets.files.folders import find
from fedbandit.datasets.files.release import Release

CLASS_NAMES = ("AbdomenCT", "BreastMRI", "CXR", "ChestCT", "Hand", "HeadCT")
SAMPLE = "medical_mnist_sample.npz"
SIDE = 64

DESCRIPTION = Description(
    name="medical-mnist",
    title="Medical MNIST (MedNIST): 58,954 images of 64 x 64, 6 classes",
    publisher="B. J. Erickson, Mayo Clinic, from TCIA, RSNA and NIH; hosted by Project MONAI",
    terms="CC BY-SA 4.0, as MedNIST is offered; acknowledge the sources",
    page="https://github.com/Project-MONAI/MONAI-extra-test-data/releases",
    downloads=(
        Download(
            "https://github.com/Project-MONAI/MONAI-extra-test-data/releases/download/0.8.1/MedNIST.tar.gz",
            "md5:0bc7306e7427e00ad1c5526a6677552d",
        ),
    ),
    anchors=(SAMPLE, *CLASS_NAMES),
    homes=("MedNIST", "resized"),
    subfolders=CLASS_NAMES,
    expected={
        "images": 58_954,
        "images of class AbdomenCT": 10_000,
        "images of class BreastMRI": 8_954,
        "images of class CXR": 10_000,
        "images of class ChestCT": 10_000,
        "images of class Hand": 10_000,
        "images of class HeadCT": 10_000,
    },
)


@dataclass(frozen=True, eq=False)
class MedicalMNIST:
    """The images, grouped by class: shuffle before use.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("medical-mnist") as path:
    ...     data = load(path)
    >>> data.images.shape, data.labels.tolist()
    ((6, 64, 64), [0, 1, 2, 3, 4, 5])
    """

    images: NDArray[np.uint8]
    labels: Ints
    filenames: Strings
    class_names: tuple[str, ...] = CLASS_NAMES
    missing: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Return the number of images, and of images of each class."""
        per_class = np.bincount(self.labels, minlength=len(self.class_names))
        classes = {f"images of class {name}": int(n) for name, n in zip(self.class_names, per_class, strict=True)}
        return {"images": self.labels.size, **classes}

    def vectors(self, rows: slice | Ints, side: int = 60, channels: int = 3) -> NDArray[np.float32]:
        """Return the chosen images as vectors on [0, 1]: the central square, repeated for each channel.

        The paper's network takes 60 x 60 x 3 = 10,800 inputs.

        >>> from fedbandit.datasets.files import examples
        >>> with examples.folder("medical-mnist") as path:
        ...     load(path).vectors(slice(0, 2)).shape
        (2, 10800)
        """
        if not 1 <= side <= SIDE:
            raise InvalidInput(f"side must be from 1 to {SIDE}, not {side}: the images are {SIDE} x {SIDE}")
        edge = (SIDE - side) // 2
        square = self.images[rows, edge : edge + side, edge : edge + side].astype(np.float32) / np.float32(255)
        return np.repeat(square.reshape(len(square), -1), channels, axis=1)


def load(path: str | os.PathLike[str] | None = None) -> MedicalMNIST:
    """Read Medical MNIST from `path` (official tar, folder of class folders, zip, or the npz sample).

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("medical-mnist") as path:
    ...     load(path).missing[0]
    '6 of the 58,954 images of the release are here'
    """
    release = find(DESCRIPTION, path)
    arrays = _sample(release) if release.has(SAMPLE) else remembered(release, _decoded)
    loaded = MedicalMNIST(arrays["images"], arrays["labels"].astype(np.int64), arrays["filenames"])
    return with_missing(loaded, DESCRIPTION, release)


def _sample(release: Release) -> Arrays:
    content = release.read(SAMPLE)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in ("images", "labels", "class_names", "filenames")}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise damaged(release.dataset, SAMPLE, f"cannot be read as npz ({error})") from error
    for name in ("class_names", "filenames"):
        if arrays[name].dtype.kind == "S":
            arrays[name] = np.char.decode(arrays[name], "utf-8")
    images, labels, names = arrays["images"], arrays["labels"], tuple(arrays["class_names"].tolist())
    if names != CLASS_NAMES:
        raise damaged(release.dataset, SAMPLE, f"class_names are {', '.join(map(str, names))}")
    if images.dtype != np.uint8 or images.shape != (labels.size, SIDE, SIDE):
        raise damaged(release.dataset, SAMPLE, f"images are {images.dtype} {images.shape}")
    if labels.size and labels.max() >= len(CLASS_NAMES):
        raise damaged(release.dataset, SAMPLE, f"labels reach {labels.max()}, the classes {len(CLASS_NAMES) - 1}")
    return arrays


def _decoded(release: Release) -> Arrays:
    place = {name: index for index, name in enumerate(CLASS_NAMES)}
    wanted = [path for path in release.paths if _class_of(path) in place and path.endswith((".jpeg", ".jpg"))]
    decoded = {path: _grey(release, path, content) for path, content in release.stream(wanted)}
    ordered = sorted(decoded, key=lambda path: (place[_class_of(path)], PurePosixPath(path).name))
    return {
        "images": np.stack([decoded[path] for path in ordered]),
        "labels": np.array([place[_class_of(path)] for path in ordered], dtype=np.uint8),
        "filenames": np.array([_short(path) for path in ordered]),
    }


def _grey(release: Release, path: str, content: bytes) -> NDArray[np.uint8]:
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise InvalidInput("reading JPEG images needs Pillow: install it with `pip install pillow`") from error
    try:
        with Image.open(io.BytesIO(content)) as image:
            pixels = np.asarray(image.convert("L"), dtype=np.uint8)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise damaged(release.dataset, _short(path), "is not a whole image") from error
    if pixels.shape != (SIDE, SIDE):
        raise damaged(release.dataset, _short(path), f"is {pixels.shape[1]} x {pixels.shape[0]}, not 64 x 64")
    return pixels


def _class_of(path: str) -> str:
    return PurePosixPath(path).parent.name


def _short(path: str) -> str:
    parts: Sequence[str] = PurePosixPath(path).parts[-2:]
    return "/".join(parts)

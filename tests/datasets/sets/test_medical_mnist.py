"""Medical MNIST is read from its tar and from a folder."""

import io
import tarfile
from pathlib import Path

import numpy as np
from PIL import Image

from fedbandit.datasets.sets import (
    medical_mnist,
)


def jpeg(shade: int, side: int = 64) -> bytes:
    file = io.BytesIO()
    Image.new("L", (side, side), shade).save(file, "jpeg")
    return file.getvalue()


def test_medical_mnist_decodes_the_official_tar(tmp_path: Path) -> None:
    classes = ["Hand", "AbdomenCT", "BreastMRI", "HeadCT", "CXR", "ChestCT"]
    path = tmp_path / "MedNIST.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for index, name in enumerate(classes):
            content = jpeg(40 * index)
            member = tarfile.TarInfo(f"MedNIST/{name}/000000.jpeg")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    data = medical_mnist.load(path)
    assert data.filenames.tolist() == [f"{name}/000000.jpeg" for name in medical_mnist.CLASS_NAMES]
    assert data.images[:, 0, 0].tolist() == [40, 80, 160, 200, 0, 120]
    folder = tmp_path / "unpacked"
    for name, shade in zip(classes, range(0, 240, 40), strict=True):
        (folder / name).mkdir(parents=True)
        (folder / name / "000000.jpeg").write_bytes(jpeg(shade))
    assert np.array_equal(medical_mnist.load(folder).images, data.images)
    assert data.vectors(slice(0, 1)).max() == np.float32(40 / 255)

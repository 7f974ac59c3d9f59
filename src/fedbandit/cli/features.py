"""`fedbandit features`: declared features for other languages, and the learnt ones of a data set of images."""

from __future__ import annotations

from typing import Annotated

import typer

from fedbandit.cli.screen import Bar, out
from fedbandit.core.errors import unknown


def features(
    name: Annotated[str, typer.Argument(help="A file of features (TOML), or the data set medical-mnist.")],
) -> None:
    """Print declared features as JSON for other languages, or learn those of a data set of images and keep them."""
    if name.endswith(".toml"):
        from fedbandit.features.features import Features  # what only this command needs, is slow

        typer.echo(Features.read(name).json, nl=False)
    else:
        _learn(name)


def _learn(name: str) -> None:
    """Train the network that turns images into features, once; environments then read them from the cache."""
    from fedbandit.datasets.preparation.medical_mnist_features import Recipe, entry_path, features_of
    from fedbandit.datasets.sets import medical_mnist

    if name != medical_mnist.DESCRIPTION.name:
        raise unknown("data set with learnt features", name, [medical_mnist.DESCRIPTION.name])
    data = medical_mnist.load()
    with Bar("training") as bar:
        learned = features_of(data, progress=bar.show)
    rows, columns = learned.features.shape
    out.print(f"{rows:,} images, {columns} features each")
    out.print(f"right: {learned.right_in_training:.2%} in training, {learned.right_held_out:.2%} held out")
    out.print(f"kept in {entry_path(data, Recipe())}", soft_wrap=True)

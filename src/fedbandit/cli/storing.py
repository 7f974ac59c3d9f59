"""What commands have in common that store the runs of experiments: their options, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from fedbandit.core.errors import InvalidInput

Results: TypeAlias = Annotated[Path, typer.Option(help="The folder of results, of `fedbandit reproduce`.")]
Store: TypeAlias = Annotated[Path, typer.Option("--store", help="The folder in which runs are stored.")]
RESULTS, STORE = Path("results"), Path("docs/evidence")


def require_no_file(folder: Path) -> None:
    """Refuse a store that is a file."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"--store {folder} is a file: give the name of a folder")

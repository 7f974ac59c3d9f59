"""Files that a command is to write: refused before the work begins, not after it."""

from __future__ import annotations

from pathlib import Path

from fedbandit.core.errors import InvalidInput

DRAWINGS = (".png", ".svg", ".pdf")


def check_file(option: str, path: Path) -> None:
    """Refuse a path that cannot be written because its folder is missing or it is a folder itself."""
    if not path.absolute().parent.is_dir():
        raise InvalidInput(f"{option} {path}: there is no folder {path.parent}: make it first")
    if path.is_dir():
        raise InvalidInput(f"{option} {path} is a folder: give the name of a file")


def check_ending(option: str, path: Path, ending: str) -> None:
    """Refuse a file that would not be called as what it is."""
    check_file(option, path)
    if path.suffix != ending:
        raise InvalidInput(f"{option} {path} does not end in {ending}: give a name that ends so")


def check_drawing(option: str, path: Path) -> None:
    """Refuse a path that no figure can be drawn to."""
    check_file(option, path)
    if path.suffix not in DRAWINGS:
        raise InvalidInput(f"{option} {path} has no known ending: use .png, .svg or .pdf")

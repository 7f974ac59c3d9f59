"""Reading what users write: TOML files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from fedbandit.core.errors import InvalidInput


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a file says, or say in one sentence why it cannot be read.

    >>> read_toml(Path("no.toml"))
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: cannot read no.toml: No such file or directory: give the path of a TOML file
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}: give the path of a TOML file") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not text in UTF-8: give the path of a TOML file, or save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path} is not valid TOML ({error}): correct that line") from None

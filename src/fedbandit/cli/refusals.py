"""How a command says what it cannot do: in one sentence, with the remedy that fits what went wrong."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Sequence
from typing import Any

from fedbandit.core.errors import nearest

_PLACES = {
    errno.ENOENT: "make its folder first, or choose another",
    errno.ENOTDIR: "a part of that path is a file, so choose another",
    errno.EISDIR: "give the name of a file",
    errno.EEXIST: "choose another name",
    errno.EACCES: "choose a file or folder that you may use",
    errno.EPERM: "choose a file or folder that you may use",
    errno.EROFS: "choose a folder on a disk that can be written to",
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "make room on the disk, or ask for a larger share of it",
    errno.ENAMETOOLONG: "give a shorter name",
    errno.EMFILE: "allow more open files, as with `ulimit -n 4096`",
}
_INSTEAD = {("change", "--set"): "write NAME=VALUE without it"}  # what people write whom nothing resembles


def of_the_system(error: OSError) -> str:
    """Return what the system could not do, and the remedy.

    >>> of_the_system(IsADirectoryError(errno.EISDIR, "Is a directory", "results"))
    'results: Is a directory: give the name of a file'
    """
    what = " -> ".join(str(each) for each in (error.filename, error.filename2) if each is not None)
    why = error.strerror or str(error) or type(error).__name__
    remedy = _PLACES.get(error.errno or 0, "see that what it needs is there, and may be used")
    return f"{what}: {why}: {remedy}" if what else f"{why}: {remedy}"


def of_usage(error: Any, arguments: Sequence[str]) -> str:
    """Return what is wrong with how a command was called, by an error of Click."""
    name = error.ctx.command_path if error.ctx else "fedbandit"
    sentence = _unknown(error) or _no_number(error, arguments) or error.format_message().rstrip(".")
    return f"{sentence}: see {name} --help"


def _unknown(error: Any) -> str | None:
    """Return the sentence for an option or a command that is not there, with what may have been meant."""
    found = re.match(r"No such (option|command):? '?([^\s']+?)'?(?:[.\s]|$)", error.format_message())
    if found is None or error.ctx is None:
        return None
    kind, given = found.groups()
    instead = _INSTEAD.get((error.ctx.info_name, given))
    if instead is not None:
        return f"No such {kind} {given!r}, {instead}"
    near = nearest(given, _options(error.ctx.command) if kind == "option" else error.ctx.command.commands)
    return f"No such {kind} {given!r}" + (f", did you mean {near!r}?" if near else "")


def _options(command: Any) -> Iterable[str]:
    shown = [each for each in command.params if not getattr(each, "hidden", False)]
    return [name for each in shown for name in (*each.opts, *each.secondary_opts) if name.startswith("--")]


def _no_number(error: Any, arguments: Sequence[str]) -> str | None:
    """Return the sentence for a value that is not the number which an option takes, under any version of Typer."""
    found = re.search(r"valid (integer|float|number)\b", error.format_message())
    options = getattr(getattr(error, "param", None), "opts", [])
    if found is None or not options or not options[0].startswith("-"):
        return None
    count = getattr(error.param, "nargs", 1)
    given = _given(options, arguments, count)
    wanted = f"{count} numbers" if count > 1 else "a whole number" if found[1] == "integer" else "a number"
    return f"{max(options, key=len)} must be {wanted}" + (f", not {given!r}" if given is not None else "")


def _given(options: Sequence[str], arguments: Sequence[str], count: int) -> str | None:
    """Return what was written after an option, at its last place.

    >>> _given(["--turns"], ["run", "--turns", "1.5"], 1), _given(["--turns"], ["run", "--turns=x"], 1)
    ('1.5', 'x')
    """
    given = None
    for place, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name in options:
            given = value if equals else " ".join(arguments[place + 1 : place + 1 + count])
    return given

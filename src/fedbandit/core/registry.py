"""Finding algorithms, environments and experiments by name.

Each lives in one file of its folder, or of a folder in it, and registers itself when the file is imported; both are
scanned, so that adding one means adding a file and editing nothing. Folders further down are not: they hold what the
files beside them share, and may be slow to import. Another package names its own files as entry points of the
group that is called like the folder: `fedbandit.algorithms`, `fedbandit.environments`, `fedbandit.experiments`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Generic, TypeVar

from fedbandit.core.errors import InvalidInput, unknown

T = TypeVar("T")


class Registry(Generic[T]):
    """Named things of one kind, found in the modules of one package.

    >>> numbers: Registry[int] = Registry("number", "fedbandit.core")
    >>> numbers.add("one", 1)
    >>> numbers["one"]
    1
    >>> numbers["onr"]
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: unknown number 'onr': did you mean 'one'?
    """

    def __init__(self, noun: str, package: str) -> None:
        """Name the kind of thing, and the package whose modules define them."""
        self._noun = noun
        self._package = package
        self._things: dict[str, T] = {}
        self._scanned = False

    def add(self, name: str, thing: T) -> None:
        """Register a thing; the latest of a name wins, so that a notebook cell can be run again."""
        self._things[name] = thing

    def __getitem__(self, name: str) -> T:
        """Return the thing of that name, or raise with the nearest name."""
        if name not in self._things:
            self._look_in_its_file(name)
        if name not in self._things:
            self._scan()
        if name not in self._things:
            raise unknown(self._noun, name, self._things)
        return self._things[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names in order."""
        self._scan()
        return iter(sorted(self._things))

    def __getattr__(self, name: str) -> ModuleType:
        """Return a module of the package: `fedbandit.algorithms` is the registry, and has its modules as well."""
        if name.startswith("_") or find_spec(f"{self._package}.{name}") is None:
            raise AttributeError(f"{self._package} has no module {name!r}")
        return import_module(f"{self._package}.{name}")

    def _look_in_its_file(self, name: str) -> None:
        """Import the file that is called like the thing, if there is one: who wants one need not wait for all."""
        for file in _files_of(self._package):
            if file.rpartition(".")[2] == name.replace("-", "_"):
                import_module(file)

    def _scan(self) -> None:
        if not self._scanned:
            for name in _files_of(self._package):
                import_module(name)
            self._load_others()
            self._scanned = True  # not before: a file that fails must fail again, not be missing

    def _load_others(self) -> None:
        """Import what installed packages offer."""
        from importlib.metadata import entry_points  # slow to import, and a run by hand needs none

        for entry in entry_points(group=self._package):
            try:
                entry.load()
            except Exception as error:
                package = entry.dist.name if entry.dist else entry.value
                raise InvalidInput(
                    f"the entry point {entry.name!r} ({entry.value}) of the package {package} cannot be loaded "
                    f"({error!r}): correct that package, or uninstall it"
                ) from error


def _files_of(package: str, deeper: bool = True) -> Iterator[str]:
    """Yield the names of the modules that are files of a package, or of a folder in it."""
    for module in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        if not module.ispkg:
            yield module.name
        elif deeper:
            yield from _files_of(module.name, deeper=False)

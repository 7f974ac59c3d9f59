"""Which code makes the numbers of a run: a fingerprint of all that its algorithm, its world and the simulator import.

Two runs of one cell have the same numbers if their code is the same. Imports are followed in the sources, within the
package that a module is of and within fedbandit; comments and docstrings do not count.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from fedbandit.core.algorithm import algorithms
from fedbandit.core.environment import environments

OWN = "fedbandit"
SIMULATOR = "fedbandit.simulation.run"
NO_NUMBERS = {  # what a simulation imports, and makes no numbers with: figures, and what only deployments have
    "fedbandit.simulation.drawing", "fedbandit.protocol.securing",
}  # fmt: skip


@cache
def code_of(algorithm: str, environment: str) -> str:
    """Return the fingerprint of the code behind runs of an algorithm in an environment.

    >>> code_of("async-linucb", "linear") == code_of("fldb-gd", "dueling")
    False
    """
    roots = (algorithms[algorithm].__module__, environments[environment].__module__, SIMULATOR)
    parts = [f"{module} {_fingerprint(module)}" for module in sorted(modules_behind(*roots))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def modules_behind(*roots: str) -> set[str]:
    """Return these modules and all that they import, directly or by others, of their packages and of fedbandit.

    >>> "fedbandit.kernels.linear.ridge" in modules_behind("fedbandit.algorithms.linear.async_linucb")
    True
    """
    packages = {OWN, *(root.partition(".")[0] for root in roots)}
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            inside = (
                each for each in _imports(module) if each.partition(".")[0] in packages and each not in NO_NUMBERS
            )
            waiting += [each for each in inside if _source(each) is not None]
    return found


@cache
def _source(module: str) -> Path | None:
    """Return the file of a module; a notebook, a script or something compiled has none."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):  # no such module: a name that its package defines, or __main__
        return None
    return Path(spec.origin) if spec is not None and spec.origin is not None and spec.origin.endswith(".py") else None


@cache
def _tree(module: str) -> ast.Module:
    file = _source(module)
    return ast.parse("" if file is None else file.read_text(encoding="utf-8"))


@cache
def _fingerprint(module: str) -> str:
    tree = _tree(module)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and len(node.body) > 1:
            node.body = [each for each in node.body if not _is_words(each)]
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()


def _is_words(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@cache
def _imports(module: str) -> tuple[str, ...]:
    """Return the modules that a module imports when it runs, anywhere in it."""
    found = []
    for node in _running(_tree(module)):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            found += [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
    return tuple(found)


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every node but those that only type checkers see."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING"):
            yield child
            yield from _running(child)

"""Small mistakes that a programmer could make, found in a file's syntax tree: each is one edit of its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.BitAnd: "|", ast.BitOr: "&"}
AUGMENTED = {ast.Add: "-=", ast.Sub: "+=", ast.Mult: "/=", ast.BitOr: "&=", ast.BitAnd: "|="}
CALLS = {"max": "min", "min": "max", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mistake:
    """Replace the bytes from `begin` to `end` of a file by `text`."""

    path: str
    line: int
    column: int
    begin: int
    end: int
    text: str
    what: str

    @property
    def name(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.what}"

    def applied(self, source: bytes) -> bytes:
        return source[: self.begin] + self.text.encode() + source[self.end :]


class Finder:
    """All mistakes of one file, but for what changes nothing: annotations, texts, what is logged, docstrings."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path = path
        self.source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def find(self) -> list[Mistake]:
        return list(self._visit(ast.parse(self.source)))

    def _at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def _span(self, node: ast.AST) -> tuple[int, int]:
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)

    def _text(self, node: ast.AST) -> str:
        begin, end = self._span(node)
        return self.source[begin:end].decode()

    def _edit(self, node: ast.AST, begin: int, end: int, text: str) -> Mistake:
        old = " ".join(self.source[begin:end].decode().split())[:60]
        line = self.source[self._starts[node.lineno - 1] : self._starts[node.lineno]].decode().strip()
        what = f"{old!r} becomes {text.strip()[:60]!r} in {line!r}"
        return Mistake(self.path, node.lineno, begin - self._starts[node.lineno - 1], begin, end, text, what)

    def _visit(self, node: ast.AST) -> Iterator[Mistake]:
        yield from self._here(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "bases", "keywords_of_class"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _is_silent(child, node):
                    yield from self._visit(child)

    def _here(self, node: ast.AST) -> Iterator[Mistake]:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield self._between(node, node.left, node.comparators[0], COMPARISONS[type(node.ops[0])])
        elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            yield self._between(node, node.left, node.right, ARITHMETIC[type(node.op)])
        elif isinstance(node, ast.AugAssign) and type(node.op) in AUGMENTED:
            yield self._between(node, node.target, node.value, AUGMENTED[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            word = "or" if isinstance(node.op, ast.And) else "and"
            yield self._between(node, node.values[0], node.values[1], word)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield self._edit(node, self._span(node)[0], self._span(node.operand)[0], "")
        elif isinstance(node, ast.Constant):
            yield from self._constant(node)
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield self._edit(node, *self._span(node.test), f"not ({self._text(node.test)})")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            yield self._edit(node, *self._span(node.func), CALLS[node.func.id])
        elif (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or isinstance(node, ast.Raise):
            yield self._edit(node, *self._span(node), "pass")
        elif isinstance(node, ast.Break | ast.Continue):
            yield self._edit(node, *self._span(node), "continue" if isinstance(node, ast.Break) else "break")

    def _between(self, node: ast.AST, left: ast.AST, right: ast.AST, text: str) -> Mistake:
        """Replace an operator, leaving brackets around its sides alone."""
        begin, end = self._span(left)[1], self._span(right)[0]
        middle = self.source[begin:end].decode()
        first = len(middle) - len(middle.lstrip(") \n"))
        last = len(middle.rstrip("( \n"))
        return self._edit(node, begin + first, begin + last, text)

    def _constant(self, node: ast.Constant) -> Iterator[Mistake]:
        if isinstance(node.value, bool):
            yield self._edit(node, *self._span(node), str(not node.value))
        elif isinstance(node.value, int | float):
            yield self._edit(node, *self._span(node), str(node.value + 1))


def _is_silent(node: ast.AST, parent: ast.AST) -> bool:
    """Tell whether nothing below a node can change what a program does."""
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(parent, ast.Raise):  # what an error says
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        return isinstance(function, ast.Attribute) and ast.unparse(function.value) in ("log", "logging", "warnings")
    return isinstance(node, ast.Assert) or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")

"""Tables of texts as HTML, for notebooks, and as LaTeX, for papers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "±": r"$\pm$",
}  # fmt: skip


def html_table(head: Sequence[str], lines: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table as HTML; texts mean what they say.

    >>> html_table(["name", "regret"], [["a < b", "7"]])
    '<table><tr><th>name</th><th>regret</th></tr><tr><td>a &lt; b</td><td>7</td></tr></table>'
    """
    rows = [_html_row("th", head), *(_html_row("td", line) for line in lines)]
    shown = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{shown}{''.join(rows)}</table>"


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def latex_table(head: Sequence[str], lines: Iterable[Sequence[str]], texts: int) -> str:
    r"""Return a table for LaTeX with the package booktabs; the first columns are texts, the others numbers.

    >>> print(latex_table(["series", "regret"], [["a_b", "7 ± 1"]], texts=1))
    \begin{tabular}{lr}
    \toprule
    series & regret \\
    \midrule
    a\_b & 7 $\pm$ 1 \\
    \bottomrule
    \end{tabular}
    """
    alike = "l" * texts + "r" * (len(head) - texts)
    rows = [_latex_row(line) for line in lines]
    parts = [rf"\begin{{tabular}}{{{alike}}}", r"\toprule", _latex_row(head), r"\midrule", *rows, r"\bottomrule"]
    return "\n".join([*parts, r"\end{tabular}"])


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join("".join(_LATEX.get(letter, letter) for letter in cell) for cell in cells) + r" \\"

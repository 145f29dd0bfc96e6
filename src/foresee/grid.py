"""A small table of a result: as text for a terminal, as HTML for a notebook, as a pandas frame.

The HTML names no background and no text colour of its own, so it looks right on light and on dark pages; a stranger's text
in it is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from foresee.extras import need

if TYPE_CHECKING:
    import pandas

#: characters of a cell in HTML; the rest is cut
WIDE = 100
#: readable on white and on a notebook's nearly black (4.3 and 4.4 to 1)
_RED = "#db4545"
_CELL = "padding:0.25em 0.8em;vertical-align:top;"


class Bad(str):
    """A cell that says what went wrong."""

    __slots__ = ()


@dataclass(frozen=True)
class Column:
    """The head of a column; words stand on the left, numbers on the right. A quiet one is there for comparison."""

    name: str
    words: bool = False
    quiet: bool = False


@dataclass(frozen=True)
class Grid:
    """Columns and rows of texts, with a title above and notes below.

    >>> print(Grid([Column("network", words=True), Column("params")], [["a", "12"], ["bc", "7"]], notes=["few of them"]))
    network  params
    a            12
    bc            7
    few of them
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    title: str = ""
    notes: Sequence[str] = ()

    def __str__(self) -> str:
        lines = [[column.name for column in self.columns], *self.rows]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        table = [
            "  ".join(
                cell.ljust(width) if column.words else cell.rjust(width)
                for cell, width, column in zip(line, widths, self.columns, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*([self.title] if self.title else []), *table, *self.notes])

    def html(self) -> str:
        """A fragment for a notebook's page."""
        title = f'<div style="font-weight:600;margin-bottom:0.3em">{_safe(self.title)}</div>' if self.title else ""
        head = "".join(
            f'<th style="{_CELL}{_side(one)}border-bottom:1px solid currentColor">{_safe(one.name)}</th>'
            for one in self.columns
        )
        body = "".join(f"<tr>{''.join(map(_cell, row, self.columns))}</tr>" for row in self.rows)
        notes = "".join(
            f'<div style="opacity:0.75;font-size:90%;margin-top:0.3em">{_safe(note)}</div>' for note in self.notes
        )
        return (
            f'<div class="foresee">{title}<table style="border-collapse:collapse;margin:0">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}</div>"
        )


class Shown:
    """What a notebook shows as a table: whoever is one says what stands in its `_grid`."""

    def _grid(self) -> Grid:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self._grid().html()


def frame(rows: Iterable[Mapping[str, Any]], index: str) -> pandas.DataFrame:
    """A pandas frame of the rows, known by one of their columns; pandas is optional."""
    made = list(rows)
    return need("pandas").DataFrame(made, columns=None if made else [index]).set_index(index)


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them.

    >>> listed(["zico"]), listed(["a", "b", "c"])
    ('zico', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def shortened(text: str, most: int = WIDE) -> str:
    """The text, cut where it is long.

    >>> shortened("a long name", 7)
    'a long…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def _cell(text: str, column: Column) -> str:
    style = _CELL + _side(column) + ("opacity:0.65;" if column.quiet else "")
    style += f"color:{_RED};" if isinstance(text, Bad) else ""
    return f'<td style="{style}">{_safe(text)}</td>'


def _side(column: Column) -> str:
    return "text-align:left;overflow-wrap:anywhere;" if column.words else "text-align:right;white-space:nowrap;"


def _safe(text: str) -> str:
    """Escaped, and without half characters, which no message to a notebook can hold."""
    return html.escape(shortened(text, 400).encode("utf-8", "replace").decode())

"""The rows of a table: proxies as asked for, or numbers made of them, each with its correlation in every column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from foresee.papers.asked import Asked, Coefficient, Measured
from foresee.papers.cells import Cell, Unavailable, missing
from foresee.papers.samples import Sample
from foresee.papers.workshop import NOT_ASKED, Workshop


@dataclass(frozen=True)
class Made:
    """A row made of other rows: `make` of what they measured, in the order of `of`."""

    of: tuple[str, ...]
    make: Callable[..., Measured]


#: what the rows of a table are: proxies as asked for, or numbers made of them
Rows: TypeAlias = dict[str, Asked | Made]


def correlation_cells(
    workshop: Workshop,
    name: str,
    rows: Rows,
    columns: Mapping[str, Coefficient] | None = None,
    *,
    hidden: Iterable[str] = (),
    targets: Sequence[str] = (),
) -> Iterator[Cell]:
    """The correlation of every row with a benchmark's accuracies, or why there is none.

    `columns` are those of the table with the coefficient each holds (by default the benchmark's own, Spearman); `hidden` are
    rows that others are made of and the table does not have; `targets` as in `Workshop.sampled`.
    """
    columns = columns or {name: "spearman"}
    shown = [row for row in rows if row not in set(hidden)]
    wanted = [row for row in shown if not workshop.rows or row in workshop.rows]
    try:
        if not wanted:
            raise Unavailable(NOT_ASKED)
        sample = workshop.sampled(name, targets=targets)
    except Unavailable as why:
        yield from missing(shown, columns, why)
        return
    found = _measured(workshop, sample, rows, wanted)
    for row in shown:
        for column, coefficient in columns.items():
            if row not in wanted:
                yield Cell.missing(row, column, NOT_ASKED)
                continue
            cell = workshop.cell(row, column, found[row], sample.truth, coefficient)
            one = rows[row]
            words = workshop.context(sample, one, found[row], coefficient) if isinstance(one, Asked) else ""
            yield replace(cell, reason="; ".join(filter(None, (cell.reason, words))))


def _measured(workshop: Workshop, sample: Sample, rows: Rows, wanted: Iterable[str]) -> dict[str, Measured]:
    """The rows wanted, and those that they are made of."""
    made = {row: one for row in wanted if isinstance(one := rows[row], Made)}
    parts = {part for one in made.values() for part in one.of} | set(wanted)
    found = workshop.measure(sample, {row: one for row in rows if row in parts and isinstance(one := rows[row], Asked)})
    return found | {row: one.make(*(found[part] for part in one.of)) for row, one in made.items()}

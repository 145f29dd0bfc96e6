"""A schema for a click log that nobody has described: guessed from a sample of its rows, with a reason for each column.

    found = guess("clicks.csv")
    print(found)                                  # a table for confirmation
    Path("clicks.toml").write_text(found.to_toml())

A guess is there to be looked at. What is uncertain is said in `warnings`, and where the label is unclear nothing is guessed
at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from foresee.data.clicks.guessing.evidence import Column
from foresee.data.clicks.guessing.labels import Label, find_label
from foresee.data.clicks.guessing.roles import Guessed, Role, roles
from foresee.data.clicks.guessing.sampling import Sample, sample
from foresee.data.clicks.schema import MISSING, Schema, known, schema
from foresee.data.loading import reading
from foresee.errors import DataError
from foresee.grid import Column as Head
from foresee.grid import Grid, Shown, shortened


@dataclass(frozen=True)
class Guess(Shown):
    """A schema, a reason for each column, and what should be looked at twice; `published` where it is a known log's."""

    schema: Schema
    columns: tuple[Guessed, ...]
    warnings: tuple[str, ...]
    rows: int
    published: bool = False

    def __str__(self) -> str:
        return str(self._grid())

    def to_toml(self) -> str:
        """The schema as a file, each column with its reason in a comment, to be confirmed and edited."""
        lines = [f"# Guessed from {self.rows:,} rows: look it through. What is not named here is not used."]
        lines += [f"# {_line(one.name)}: {one.role}, {_line(one.reason)}" for one in self.columns]
        lines += [f"# Mind: {_line(warning)}" for warning in self.warnings]
        return "\n".join(lines) + "\n\n" + self.schema.to_toml()

    def _grid(self) -> Grid:
        heads = [Head("column", words=True), Head("taken for", words=True), Head("values"), Head("missing")]
        heads += [Head("such as", words=True, quiet=True), Head("why", words=True)]
        rows = [
            [
                shortened(one.name, 30), one.role, f"{one.distinct:,}", f"{100 * one.missing:.1f} %" if one.missing else "",
                shortened(", ".join(one.examples), 30), one.reason,
            ]
            for one in self.columns
        ]  # fmt: skip
        return Grid(heads, rows, notes=[f"mind: {warning}" for warning in self.warnings])


def guess(path: str | os.PathLike[str], rows: int = 10_000, *, label: str | None = None, named: bool = True) -> Guess:
    """A schema for the file, from a sample of so many rows.

    Args:
        path: a CSV file by any delimiter, with a header line or without, also compressed, or a Parquet file.
        rows: how many are looked at.
        label: the column to foresee, where it is known.
        named: whether a file with the columns of a published log gets its schema.
    """
    path = Path(path)
    with reading(path, "a table"):
        if not path.is_file():
            raise DataError(f"{path}: no such file" if not path.exists() else f"{path}: is no file; expected a table")
    seen = sample(path, rows)
    columns = [Column(name, values) for name, values in zip(seen.names, seen.columns, strict=True)]
    absent = (*MISSING, *sorted({text for one in columns for text in one.blanks}))
    columns = [Column(one.name, one.values, absent) for one in columns]
    if named and label is None and (found := _published(seen, columns)) is not None:
        return found
    chosen = find_label(columns, header=seen.header, label=label, where=str(path))
    guessed, warnings = roles(columns, chosen, seen)
    warnings += [
        f"a second column {name!r} is left out: rename it in the file to use it" for name in seen.again if name
    ]
    own = replace(_schema(guessed, chosen, seen, path), missing=absent)
    return Guess(own, guessed, tuple(warnings), seen.rows)


# -- the schema -----------------------------------------------------------------------------------------------------------
def _schema(guessed: Sequence[Guessed], label: Label, seen: Sample, path: Path) -> Schema:
    derived = {name: of for one in guessed if one.role == "time" for name, of in _parts(one, seen.names)}
    numeric = tuple(one.name for one in guessed if one.role == "number")
    commas = tuple(one.name for one in guessed if one.role == "number" and one.format == "commas")
    categories = tuple(one.name for one in guessed if one.role == "category")
    if not (numeric or categories or derived):
        raise DataError(f"{path}: beside the label {label.name} no column to learn from; describe the file by --schema")
    split = next(({"by": "column", "column": one.name} for one in guessed if one.role == "split"), {"by": "random"})
    return Schema(
        name=path.name.split(".")[0],
        label=label.name,
        positive=label.positive,
        negative=label.negative,
        numeric=numeric,
        categories=(*categories, *derived),
        derived=derived,
        decimal_commas=commas or None,
        columns=None if seen.header else seen.names,
        delimiter=None if seen.delimiter in (None, ",") else seen.delimiter,
        time=next((one.name for one in guessed if one.role == "time"), None),
        split=split,
    )


def _parts(one: Guessed, taken: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The columns that a time makes, under names that are free."""
    for part in ("hour", "weekday") if one.clocked else ("weekday",):
        name = f"{one.name}_{part}"
        while name in taken:
            name += "_"
        yield name, {"from": one.name, "take": part, "format": one.format}


def _published(seen: Sample, columns: Sequence[Column]) -> Guess | None:
    """The schema of a published log that this is, by its columns."""
    for name in known():
        one = schema(name)
        there = one.columns or one.sources
        needed = [column for column in there if column not in one.optional]
        if seen.header:
            fits = set(needed) <= set(seen.names) and len(needed) > 5
        else:
            fits = seen.delimiter == "\t" and len(columns) in (len(there), len(needed)) and _looks(one, columns)
        if fits:
            return _as_published(one, seen, columns)
    return None


def _looks(one: Schema, columns: Sequence[Column]) -> bool:
    """Whether columns without names look like those of a published log: numbers where it has them, labels that it knows."""
    by_name = dict(zip(one.columns or (), columns, strict=False))
    label = by_name[one.label]
    answers = sum(count for value, count in label.counts.items() if one.answer(value) is not None)
    numeric = (by_name[name] for name in one.numeric if name in by_name)
    return answers > 0.9 * len(label.values) and all(
        column.numbers is not None or not column.there for column in numeric
    )


def _as_published(one: Schema, seen: Sample, columns: Sequence[Column]) -> Guess:
    names = seen.names if seen.header else (one.columns or ())[: len(columns)]
    parting = [column.name for column in columns if seen.header and column.split]
    if parting:
        one = one.but(split={"by": "column", "column": parting[0]})
    used = {of["from"] for of in one.derived.values()}
    made = []
    for name, column in zip(names, columns, strict=True):
        role: Role = "label" if name == one.label else "number" if name in one.numeric else "left out"
        role = "category" if name in one.categories else "time" if name in used else role
        role = "split" if name in parting else role
        reason = f"as the schema {one.name} says" if role not in ("left out", "split") else ""
        reason = reason or ("its values say so" if role == "split" else f"the schema {one.name} does not use it")
        examples = tuple(value for value, _ in column.counts.most_common(3))
        made.append(Guessed(name, role, reason, examples, len(column.counts), column.missing))
    return Guess(one, tuple(made), (), seen.rows, published=True)


def _line(text: str) -> str:
    """Text for a comment: one line of it."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())

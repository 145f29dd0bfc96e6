"""Rows of a click log as numpy arrays: what reading gives, and what preprocessing takes. No engine is needed for it.

A row is malformed where its label is neither yes nor no, a number is none (and not one of the schema's words for a missing
value), or a time that something is derived from is none. A value that is missing makes no row malformed, but the label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee.data.clicks.reading.blocks import Malformed
from foresee.data.clicks.reading.texts import Keys, Texts, key, number
from foresee.data.clicks.reading.times import TAKE, moment, place
from foresee.data.clicks.schema import Schema
from foresee.data.clicks.splitting import PARTS
from foresee.errors import shown

#: malformed rows that are remembered, of a file and of a chunk; all are counted
REMEMBERED = 100

Array = NDArray[Any]


@dataclass(frozen=True)
class Chunk:
    """Some rows, one after another, all of them well formed.

    `labels` are 0 and 1 (n,) in uint8, or None where rows have none; `numbers` by name (n,) in float64, NaN where missing;
    `keys` of categories by name (n,) in uint64, 0 where missing; `texts` as they stand in the file. `parts` are those of a
    split by column: the number of the part, -1 for none; `times` order the rows of a split by time. `first_row` is the
    number of the first row among all well-formed ones of the file.
    """

    labels: NDArray[np.uint8] | None
    numbers: dict[str, NDArray[np.float64]]
    keys: dict[str, Keys]
    texts: dict[str, Texts]
    parts: NDArray[np.int8] | None = None
    times: NDArray[np.float64] | None = None
    malformed: tuple[Malformed, ...] = ()
    malformed_count: int = 0
    first_row: int = 0
    size: int = 0

    def __len__(self) -> int:
        return self.size

    @property
    def columns(self) -> dict[str, Array]:
        """All features by name: numbers and keys."""
        return {**self.numbers, **self.keys}


@dataclass
class _Wrong:
    """Rows that are malformed, each with the first reason that was found."""

    rows: NDArray[np.bool_]
    reasons: dict[int, str] = field(default_factory=dict)

    def add(self, flags: NDArray[np.bool_], reason: Callable[[int], str]) -> None:
        fresh = np.flatnonzero(flags & ~self.rows)
        self.rows[fresh] = True
        for row in fresh[:REMEMBERED].tolist():
            self.reasons[row] = reason(row)


def chunk_of(
    texts: Mapping[str, Texts],
    schema: Schema,
    lines: Callable[[NDArray[np.int64]], list[int]],
    malformed: tuple[Malformed, ...] = (),
    count: int = 0,
    *,
    labelled: bool = True,
) -> Chunk:
    """The columns of `schema.sources` as arrays, less the rows that are malformed; `lines` says where rows stand.

    `malformed` are `count` rows that could not even be told apart, the first of them named.
    """
    size = len(next(iter(texts.values())))
    wrong = _Wrong(np.zeros(size, np.bool_))
    labels = _labels(texts[schema.label], schema, wrong) if labelled else None
    numbers: dict[str, NDArray[np.float64]] = {}
    keys: dict[str, Keys] = {}
    for name in schema.numeric:
        made = _derived(texts, schema, name, wrong) if name in schema.derived else _numbers(texts, schema, name, wrong)
        numbers[name] = made
    for name in schema.categories:
        if name in schema.derived:
            keys[name] = _as_keys(_derived(texts, schema, name, wrong))
        else:
            keys[name] = texts[name].keys()
            keys[name][texts[name].among(schema.missing)] = 0
    by = schema.split["by"]
    times = _times(texts, schema, wrong) if labelled and by == "time" else None
    parts = _parts(texts[schema.split["column"]], schema) if labelled and by == "column" else None
    few = np.array(sorted(wrong.reasons)[:REMEMBERED], np.int64)
    named = [Malformed(line, wrong.reasons[row]) for row, line in zip(few.tolist(), lines(few), strict=True)]
    kept = None if not wrong.rows.any() else np.flatnonzero(~wrong.rows)

    def chosen(array: Any) -> Any:
        return array if kept is None or array is None else array[kept]

    return Chunk(
        labels=chosen(labels),
        numbers={name: chosen(array) for name, array in numbers.items()},
        keys={name: chosen(array) for name, array in keys.items()},
        texts={n: Texts(one.data, chosen(one.starts), chosen(one.lengths)) for n, one in texts.items()},
        parts=chosen(parts),
        times=chosen(times),
        malformed=tuple(sorted((*malformed, *named), key=lambda one: one.line)[:REMEMBERED]),
        malformed_count=count + int(wrong.rows.sum()),
        size=size if kept is None else len(kept),
    )


def _each(texts: Texts, function: Callable[[str], float]) -> NDArray[np.float64]:
    """A function of every text, asked once for each different one."""
    _, first, inverse = np.unique(texts.keys(), return_index=True, return_inverse=True)
    values = np.fromiter((function(texts[row]) for row in first.tolist()), np.float64, len(first))
    return values[inverse]


def _labels(texts: Texts, schema: Schema, wrong: _Wrong) -> NDArray[np.uint8]:
    means = schema.answer

    def answer(text: str) -> float:
        said = means(text)
        # Where every other label means no, one that is missing still is none.
        unsaid = said is False and text in schema.missing and text not in schema.negative
        return np.nan if said is None or unsaid else said

    values = _each(texts, answer)
    yes = " or ".join(map(repr, schema.positive))
    wrong.add(
        np.isnan(values), lambda row: f"{schema.label} is {shown(texts[row], 40)}: neither {yes} nor what means no"
    )
    return np.nan_to_num(values).astype(np.uint8)


def _numbers(texts: Mapping[str, Texts], schema: Schema, name: str, wrong: _Wrong) -> NDArray[np.float64]:
    own = texts[name]
    missing = own.among(schema.missing)
    commas = name in (schema.decimal_commas or ())
    values = own.numbers(missing, commas=commas)
    wrong.add(
        np.isnan(values) & ~missing, lambda row: f"{name} is {shown(own[row], 40)}: {_no_number(own[row], commas)}"
    )
    return values


def _no_number(text: str, commas: bool) -> str:
    """Why a text is no number, and what to do where the other kind of decimals is meant."""
    if not commas and not np.isnan(number(text, commas=True)) and "," in text:
        return "not a number; are its decimals behind a comma? A schema says so: decimal_commas = [...]"
    return "not a number with a decimal comma" if commas else "not a number"


def _derived(texts: Mapping[str, Texts], schema: Schema, name: str, wrong: _Wrong) -> NDArray[np.float64]:
    """A part of a time, as a number; NaN where the time is missing."""
    of = schema.derived[name]
    own, take = texts[of["from"]], TAKE[of["take"]]
    values = _each(own, lambda text: np.nan if (time := moment(text, of["format"])) is None else take(time))
    none = np.isnan(values) & ~own.among(schema.missing)
    wrong.add(none, lambda row: f"{of['from']} is {shown(own[row], 40)}: not a time of the form {of['format']}")
    return values


def _as_keys(values: NDArray[np.float64]) -> Keys:
    """Categories that are small whole numbers."""
    missing = np.isnan(values)
    whole = np.where(missing, 0, values).astype(np.int64)
    table = np.array([key(str(n)) for n in range(int(whole.max(initial=0)) + 1)], np.uint64)
    return np.where(missing, np.uint64(0), table[whole])


def _times(texts: Mapping[str, Texts], schema: Schema, wrong: _Wrong) -> NDArray[np.float64]:
    assert schema.time is not None
    own = texts[schema.time]
    form = next((of["format"] for of in schema.derived.values() if of["from"] == schema.time), None)
    values = _each(own, lambda text: place(text, form))
    wrong.add(np.isnan(values), lambda row: f"{schema.time} is {shown(own[row], 40)}: not a time to order rows by")
    return values


def _parts(texts: Texts, schema: Schema) -> NDArray[np.int8]:
    part = {text: PARTS.index(name) for name, some in schema.split["values"].items() for text in some}
    return _each(texts, lambda text: part.get(text, -1)).astype(np.int8)

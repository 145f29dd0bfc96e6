"""Columns of the engine (pyarrow) as texts: of any type, without a copy where they are texts already."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee.data.clicks.reading.texts import BLANKS, COMMAS, LARGEST, NUMBER, Flags, Texts
from foresee.errors import DataError
from foresee.extras import need


class ArrowTexts(Texts):
    """A column as texts: whole numbers without a point whatever their type, yes and no as 1 and 0, lists as JSON.

    `name` is what an error calls it.
    """

    def __init__(self, column: Any, *, strip: bool, name: str = "") -> None:
        pa, pc = need("pyarrow"), need("pyarrow.compute")
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        kind = column.type
        self._values: NDArray[np.float64] | None = None
        if pa.types.is_floating(kind):
            self._values = np.array(column.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
            column = pa.array([as_text(value) for value in self._values.tolist()], pa.string())
        elif pa.types.is_boolean(kind):
            column = column.cast(pa.int8()).cast(pa.string())
        elif pa.types.is_nested(kind):
            column = pa.array([None if one is None else as_list(one) for one in column.to_pylist()], pa.string())
        elif not pa.types.is_string(kind):
            try:
                column = column.cast(pa.string())
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                which = f"column {name!r}" if name else "a column"
                raise DataError(
                    f"{which} of type {kind} has no form as text; expected numbers, texts, times or lists"
                ) from error
        if column.null_count:
            column = pc.fill_null(column, "")
        if strip:
            column = pc.utf8_trim(column, BLANKS)
        self._column = column
        _, offsets, data = column.buffers()
        ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1].astype(np.int64)
        content = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
        super().__init__(content, ends[:-1], np.diff(ends))

    def numbers(self, missing: Flags, *, commas: bool = False) -> NDArray[np.float64]:
        """The same numbers as `Texts` would find, all at once."""
        if self._values is not None:
            return np.where(missing | ~(np.abs(self._values) <= LARGEST), np.nan, self._values)
        pa, pc = need("pyarrow"), need("pyarrow.compute")
        given = self._column
        if missing.any():
            given = pc.if_else(pa.array(missing), pa.scalar(None, pa.string()), given)
        if commas:
            form = pc.match_substring_regex(given, f"^(?:{COMMAS.pattern})$")
            given = pc.if_else(form, given, pa.scalar(None, pa.string()))
            given = pc.replace_substring(pc.replace_substring(given, ".", ""), ",", ".")
        try:
            found = given.cast(pa.float64())
        except pa.ArrowInvalid:  # one that is no number is enough
            form = pc.match_substring_regex(given, f"^(?:{NUMBER.pattern})$")
            given = pc.if_else(form, pc.utf8_ltrim(given, "+"), pa.scalar(None, pa.string()))
            found = given.cast(pa.float64())
        values = np.array(found.to_numpy(zero_copy_only=False), np.float64)
        values[~(np.abs(values) <= LARGEST)] = np.nan
        return values


def as_text(value: float) -> str:
    """A number of a typed column, or of a row that is served, as a text.

    >>> as_text(1005.0), as_text(0.25), as_text(float("nan"))
    ('1005', '0.25', '')
    """
    if value != value:
        return ""
    return str(int(value)) if value.is_integer() and abs(value) < 2**63 else repr(value)


def as_list(value: Any) -> str:
    """A list, or values by name, as the text that a log in text has for it.

    >>> as_list(["a", "b"]), as_list({"size": 2})
    ('["a","b"]', '{"size":2}')
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)

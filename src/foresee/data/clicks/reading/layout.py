"""How a file of text is laid out: what stands between its fields, whether it has a header line, where each column is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from foresee.data.clicks.reading.blocks import Record, blocks, scan
from foresee.data.clicks.reading.texts import BLANKS
from foresee.data.clicks.schema import Schema
from foresee.errors import DataError, UnknownNameError

#: what may stand between fields, the likeliest first
DELIMITERS = ("\t", ",", ";", "|", "\x01", " ")
#: records that are looked at
LOOKED_AT = 100


@dataclass(frozen=True)
class Layout:
    """`places` of the columns that are read, None for one that the file lacks; `fields` of every record; the first
    `header` line, or 0 where there is none.
    """

    delimiter: str
    fields: int
    header: int
    places: dict[str, int | None]


def layout(path: Path, schema: Schema) -> Layout:
    """By the first line: names that the schema knows are a header line, else columns go by their position."""
    looks = {delimiter: head(path, delimiter) for delimiter in _likely(path, schema)}
    if not any(looks.values()):
        raise DataError(f"{path}: there is no row in it")
    for delimiter, records in looks.items():
        found = _by_names(records, delimiter, schema) or _by_position(records, delimiter, schema)
        if found is not None:
            return found
    raise DataError(f"{path}: {_what_is_missing(looks, schema)}")


def head(path: Path, delimiter: str, rows: int = LOOKED_AT) -> list[Record]:
    """The first records of a file that can be told apart, the header line among them."""
    found: list[Record] = []
    for block in blocks(path, delimiter, 2**16):
        records = block.records or scan(block.content, block.line, delimiter, final=True)[0]
        found += islice((one for one in records if one.fields is not None), rows - len(found))
        if len(found) >= rows:
            break
    return found


def _likely(path: Path, schema: Schema) -> list[str]:
    """The delimiters to try: as stated, else all that stand in the first line, the most frequent first."""
    if schema.delimiter is not None:
        return [schema.delimiter]
    first = head(path, "\n", 1)
    text = "\n".join(first[0].fields or ()) if first else ""
    there = [one for one in DELIMITERS if one in text]
    return sorted(there, key=lambda one: -text.count(one)) or [","]


def _by_names(records: Sequence[Record], delimiter: str, schema: Schema) -> Layout | None:
    if not records or records[0].fields is None:
        return None
    names = [name.strip(BLANKS) for name in records[0].fields]
    lower = [name.lower() for name in names]
    places: dict[str, int | None] = {}
    for name in schema.sources:
        if name in names:
            places[name] = names.index(name)
        elif lower.count(name.lower()) == 1:
            places[name] = lower.index(name.lower())
        elif name in schema.optional:
            places[name] = None
        else:
            return None
    return Layout(delimiter, len(names), records[0].line, places)


def _by_position(records: Sequence[Record], delimiter: str, schema: Schema) -> Layout | None:
    if schema.columns is None or any(name not in schema.columns for name in schema.sources):
        return None
    lacking = 0
    for name in reversed(schema.columns):
        if name not in schema.optional:
            break
        lacking += 1
    [(fields, _)] = Counter(len(record.fields or ()) for record in records).most_common(1) or [(0, 0)]
    if not len(schema.columns) - lacking <= fields <= len(schema.columns):
        return None
    there = schema.columns[:fields]
    places = {name: there.index(name) if name in there else None for name in schema.sources}
    return Layout(delimiter, fields, 0, places)


def _what_is_missing(looks: dict[str, list[Record]], schema: Schema) -> str:
    """Why no layout fits, by the delimiter that gives the most fields."""
    records = max((found for found in looks.values() if found), key=lambda found: len(found[0].fields or ()))
    names = [name.strip(BLANKS) for name in records[0].fields or ()]
    missing = [name for name in schema.sources if name not in names and name not in schema.optional]
    hint = str(UnknownNameError("column", missing[0], names)) if names and len(missing) < len(schema.sources) else ""
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    called = f"schema {schema.name}" if schema.name else "the schema"
    without = "" if schema.columns is None else f"; nor has it the {len(schema.columns)} columns of a file without one"
    return (
        f"the first line ({len(names)} fields: {shown}) does not name the columns of {called}: "
        f"{', '.join(missing[:8])}{', ...' if len(missing) > 8 else ''} missing{f' ({hint})' if hint else ''}{without}"
    )

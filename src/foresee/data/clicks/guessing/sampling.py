"""A sample of a table in a file, as text, before anything is known about it: its delimiter, its header line, some rows.

Half of the sample are the first rows; the other half are runs of rows from all over the file, because logs are sorted by
time, and some by label. A compressed file is read from its beginning only.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress, islice
from pathlib import Path
from typing import Any, BinaryIO

from foresee.data.clicks.reading.blocks import STRANGERS, scan
from foresee.data.clicks.reading.columns import ArrowTexts
from foresee.data.clicks.reading.streaming import is_parquet
from foresee.data.loading import reading
from foresee.errors import DataError
from foresee.extras import need

#: what may stand between fields; of two that fit equally well, the first
DELIMITERS = ("\t", "\x01", ";", "|", ",")
#: lines by which the delimiter is found
LINES = 200
#: places of a large file at which rows are taken, beside its beginning
PLACES = 16
#: bytes of a line that is believed to be one
LONGEST = 1 << 20
#: a plain number
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")


@dataclass(frozen=True)
class Sample:
    """Columns of text, by name. `header` says whether the names are the file's own, `whole` whether all rows are here.

    Columns that are named as an earlier one are not here: their names are `again`.
    """

    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    delimiter: str | None
    header: bool
    whole: bool
    again: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.columns[0]) if self.columns else 0


def sample(path: Path, rows: int = 10_000) -> Sample:
    """A sample of so many rows of a CSV file by any delimiter, also compressed, or of a Parquet file."""
    if is_parquet(path):
        return _parquet(path, rows)
    with reading(path, "a table of text"):
        lines, whole = _lines(path, rows + 1)
    if not lines:
        raise DataError(f"{path}: is empty; expected rows with a label, such as a CSV file")
    delimiter = _delimiter(lines[:LINES])
    split = _fields(lines, delimiter)
    width = Counter(map(len, split[:LINES])).most_common(1)[0][0] if split else 0
    if width < 2:
        raise DataError(
            f"{path}: no table of several columns is to be seen; expected fields apart by a comma, semicolon, tab or |"
        )
    fitting = [fields for fields in split if len(fields) == width]
    _legible(path, lines[0], delimiter, split)
    header = len(split[0]) == width and _is_header(split[0], fitting[1:])
    kept = fitting[1 if header else 0 :][:rows]
    if not kept:
        raise DataError(f"{path}: a header line and no rows")
    names = tuple(name.strip() for name in split[0]) if header else by_position(width)
    columns = tuple(tuple(field.strip() for field in column) for column in zip(*kept, strict=True))
    first = [names.index(name) == place for place, name in enumerate(names)]
    again = tuple(name for name, is_first in zip(names, first, strict=True) if not is_first)
    names, columns = tuple(compress(names, first)), tuple(compress(columns, first))
    return Sample(names, columns, delimiter, header, whole, again)


def by_position(width: int) -> tuple[str, ...]:
    """Names of columns that have none.

    >>> by_position(3)
    ('column_1', 'column_2', 'column_3')
    """
    return tuple(f"column_{place}" for place in range(1, width + 1))


def _lines(path: Path, rows: int) -> tuple[list[bytes], bool]:
    """Lines of the file as said above, and whether these are all."""
    with path.open("rb") as file:
        start = file.read(6)
        for mark, kind in STRANGERS.items():
            if start.startswith(mark):
                raise DataError(f"{path}: is {kind}; expected text in UTF-8, plain or compressed by gzip")
        file.seek(0 if not start.startswith(b"\xef\xbb\xbf") else 3)  # a mark of the order of bytes is none of the text
        if start.startswith(b"\x1f\x8b"):
            with gzip.open(file, "rb") as packed:
                first = _some(packed, rows)
                return first, len(first) < rows
        first = _some(file, rows)
        if len(first) < rows:
            return first, True
        kept, end, size = first[: max(rows // 2, 2)], file.tell(), path.stat().st_size
        for place in range(PLACES):
            file.seek(end + (size - end) * place // PLACES)
            file.readline(LONGEST)  # where a line was cut
            kept += _some(file, (rows - rows // 2) // PLACES)
        return kept, False


def _some(file: BinaryIO | gzip.GzipFile, many: int) -> list[bytes]:
    """The next lines; of a file that is damaged, those before the damage."""
    found: list[bytes] = []
    try:
        found.extend(islice(iter(lambda: file.readline(LONGEST), b""), many))
    except (EOFError, zlib.error, gzip.BadGzipFile):
        if not found:
            raise
    return [line if line.endswith(b"\n") else line + b"\n" for line in found]


def _fields(lines: Sequence[bytes], delimiter: str) -> list[list[str]]:
    """The fields of the records that can be told apart."""
    records, _ = scan(b"".join(lines), 1, delimiter, final=True)
    return [record.fields for record in records if record.fields]


def _delimiter(lines: Sequence[bytes]) -> str:
    """What most lines agree on, and of those the one that makes the most fields."""

    def fit(delimiter: str) -> tuple[float, int]:
        split = _fields(lines, delimiter)
        width, many = Counter(map(len, split)).most_common(1)[0] if split else (0, 0)
        agreed = many / len(split) if width > 1 else 0.0
        # a header line that does not fit speaks against it: decimal commas are as regular as fields
        return (round(agreed, 1) - (0.3 if split and len(split[0]) != width else 0.0), width)

    return max(DELIMITERS, key=fit)


def _is_header(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether a line names columns: none of the names a number, few of them values of their own column.

    Names that lack or are repeated are names where something below them is a number all along.
    """
    names = [name.strip() for name in first]
    if any(NUMBER.fullmatch(name) for name in names):
        return False
    proper = all(names[1:]) and len(set(names)) == len(names)
    if not rest:
        return proper
    columns = [set(column) for column in zip(*rest[:1000], strict=True)]
    strange = any(name and all(map(NUMBER.fullmatch, own)) for name, own in zip(names, columns, strict=True))
    known = sum(name in column for name, column in zip(first, columns, strict=True))
    return (proper or strange) and known * 4 <= len(names)


def _legible(path: Path, first: bytes, delimiter: str, split: Sequence[Sequence[str]]) -> None:
    """Refuse a header line that is no UTF-8: without it columns would have no names, and nobody would be told."""
    try:
        first.decode()
    except UnicodeDecodeError as error:
        if _is_header(first.decode("latin-1").strip("\r\n").split(delimiter), split):
            raise DataError(
                f"{path}: the names of its columns are not UTF-8 text (byte {first[error.start]:#04x}); convert it first, "
                "such as by `iconv -f windows-1252 -t utf-8`"
            ) from None


def _parquet(path: Path, rows: int) -> Sample:
    """The same of a Parquet file: from its first groups of rows, and some from all over it."""
    with reading(path, "a Parquet file"):
        file = need("pyarrow.parquet").ParquetFile(path)
        total, groups = file.metadata.num_rows, file.num_row_groups
        names = tuple(file.schema_arrow.names)
        chosen = range(groups) if total <= rows else sorted({place * groups // PLACES for place in range(PLACES)})
        each = rows if total <= rows else -(-rows // max(len(chosen), 1))
        batches = [
            batch.slice(0, each)
            for group in chosen
            for batch in islice(file.iter_batches(max(each, 1), row_groups=[group]), 1)
        ]
    if not batches:
        raise DataError(f"{path}: has no rows")
    if len(names) < 2:
        raise DataError(f"{path}: has one column; expected a label and something to learn from")
    whole = sum(batch.num_rows for batch in batches) == total
    columns = tuple(tuple(text for batch in batches for text in _as_texts(batch.column(name), name)) for name in names)
    return Sample(names, columns, None, True, whole)


def _as_texts(column: Any, name: str) -> list[str]:
    texts = ArrowTexts(column, strip=True, name=name)
    return [texts[row] for row in range(len(texts))]

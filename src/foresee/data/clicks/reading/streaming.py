"""Click logs read from front to back, in chunks, in constant memory: text (plain or gzip) and Parquet.

    for chunk in chunks("clicks.csv.gz", schema("criteo")):
        chunk.numbers["I1"], chunk.keys["C1"], chunk.labels, chunk.malformed

pyarrow takes text apart, as text: no value of a row can stop it. What becomes of the texts is decided here (`chunk_of`), so
that a row that makes no sense is counted, named with its line and passed over. The next blocks are parsed by other threads
while the present one is worked with; the chunks, their order and their sizes do not depend on how many there are.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee.data.clicks.reading.blocks import BLOCK, Block, Malformed, Record, blocks, scan
from foresee.data.clicks.reading.chunk import REMEMBERED, Chunk, chunk_of
from foresee.data.clicks.reading.columns import ArrowTexts
from foresee.data.clicks.reading.layout import Layout, layout
from foresee.data.clicks.reading.lines import Lines
from foresee.data.clicks.reading.texts import Texts
from foresee.data.clicks.schema import Schema, schema
from foresee.data.loading import reading
from foresee.errors import DataError
from foresee.extras import need

#: threads that parse; more than a few are waited for by the one that reads
THREADS = min(4, os.cpu_count() or 1)
#: rows of Parquet that are read at a time
ROWS = 2**15
#: where so many rows are malformed and none is not, the schema is not that of the file
HOPELESS = 1000


def chunks(path: str | Path, of: str | Path | Schema, *, block: int = BLOCK, threads: int = THREADS) -> Iterator[Chunk]:
    """All rows of a file, in order, some at a time; malformed ones are in the chunk where they would have been."""
    path, known = Path(path).expanduser(), schema(of)
    parse = _parquet(path, known) if is_parquet(path) else _text(path, known, block)
    row, bad, first = 0, 0, ""
    for chunk in _ahead(parse, threads):
        if chunk.malformed and not first:
            first = f"line {chunk.malformed[0].line}: {chunk.malformed[0].reason}"
        bad += chunk.malformed_count
        if row + len(chunk) == 0 and bad >= HOPELESS:
            raise DataError(f"{path}: none of the first {bad:,} rows fits the schema {known.name}; {first}")
        yield replace(chunk, first_row=row)
        row += len(chunk)


def is_parquet(path: Path) -> bool:
    """By the first four bytes."""
    with reading(path, "a click log"), path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _ahead(tasks: Iterator[Callable[[], Chunk]], threads: int) -> Iterator[Chunk]:
    """What the tasks give, in their order, a few of them done in advance."""
    waiting: deque[Future[Chunk]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for task in tasks:
                waiting.append(pool.submit(task))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for one in waiting:
                one.cancel()


# -- text -------------------------------------------------------------------------------------------------------------
def _text(path: Path, known: Schema, size: int) -> Iterator[Callable[[], Chunk]]:
    with reading(path, "a table in text"):
        found = layout(path, known)
    need("pyarrow.csv")
    for block in blocks(path, found.delimiter, size):
        if found.header and block.line <= found.header:
            block = _without_header(block, found)
        yield partial(_parsed, block, found, known)


def _without_header(block: Block, found: Layout) -> Block:
    if block.records is not None:
        return replace(block, records=[one for one in block.records if one.line > found.header])
    lines = Lines(block.content, found.delimiter)
    at = int(np.searchsorted(lines.numbers, found.header - block.line)) + 1  # the record after it
    begin = int(lines.starts[at]) if at < len(lines.starts) else len(block.content)
    return Block(block.line + block.content.count(b"\n", 0, begin), block.content[begin:])


def _parsed(block: Block, found: Layout, known: Schema) -> Chunk:
    if block.records is not None:
        return _from_records(block.records, found, known)
    if _is_plain(block.content):
        chunk = _by_engine(block, found, known)
        if chunk is not None:
            return chunk
    return _from_records(scan(block.content, block.line, found.delimiter, final=True)[0], found, known)


def _is_plain(content: bytes) -> bool:
    """Whether the engine and `scan` would see the same: text in UTF-8, with line breaks of one kind."""
    if b"\r" in content and content.count(b"\r") != content.count(b"\r\n"):
        return False
    if content.isascii():
        return True
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _by_engine(block: Block, found: Layout, known: Schema) -> Chunk | None:
    """By pyarrow; None where it understands the block otherwise than we do."""
    pa, csv = need("pyarrow"), need("pyarrow.csv")
    refused: list[int] = []

    def refuse(row: Any) -> str:
        refused.append(row.actual_columns)
        return "skip"

    used = sorted({str(place) for place in found.places.values() if place is not None}, key=int)
    quoted = b'"' in block.content
    try:
        table = csv.read_csv(
            pa.BufferReader(block.content),
            csv.ReadOptions(
                use_threads=False, block_size=len(block.content) + 1, column_names=[str(n) for n in range(found.fields)]
            ),
            csv.ParseOptions(
                delimiter=found.delimiter,
                quote_char='"' if quoted else False,
                newlines_in_values=quoted,
                invalid_row_handler=refuse,
            ),
            csv.ConvertOptions(
                check_utf8=False,
                include_columns=used,
                column_types=dict.fromkeys(used, pa.string()),
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:  # an empty block among others
        return None
    lines = Lines(block.content, found.delimiter)
    malformed: list[Malformed] = []
    if refused:
        if len(lines.of_fields(found.fields)) != table.num_rows:
            return None
        malformed = [
            Malformed(block.line + number, _fields(fields, found))
            for number, fields in lines.not_of_fields(found.fields)[:REMEMBERED]
        ]

    def stand(rows: NDArray[np.int64]) -> list[int]:
        return (block.line + lines.of_fields(found.fields)[rows]).tolist() if len(rows) else []

    stripped = _has_blanks(block.content, found.delimiter)
    texts = {
        name: _absent(table.num_rows)
        if place is None
        else ArrowTexts(table.column(used.index(str(place))), strip=stripped)
        for name, place in found.places.items()
    }
    return chunk_of(texts, known, stand, tuple(malformed), len(refused))


def _has_blanks(content: bytes, delimiter: str) -> bool:
    return any(one in content for one in (b" ", b"\t", b"\v", b"\f", b'"') if one != delimiter.encode())


def _from_records(records: list[Record], found: Layout, known: Schema) -> Chunk:
    """From records that were taken apart one by one."""
    pa = need("pyarrow")
    whole = [one for one in records if one.fields is not None and len(one.fields) == found.fields]
    wrong = [one for one in records if one.fields is None or len(one.fields) != found.fields]
    texts = {
        name: _absent(len(whole))
        if place is None
        else ArrowTexts(pa.array([one.fields[place] for one in whole], pa.string()), strip=True)  # type: ignore[index]
        for name, place in found.places.items()
    }
    malformed = [
        Malformed(one.line, one.reason if one.fields is None else _fields(len(one.fields), found))
        for one in wrong[:REMEMBERED]
    ]
    return chunk_of(texts, known, lambda rows: [whole[row].line for row in rows.tolist()], tuple(malformed), len(wrong))


def _fields(count: int, found: Layout) -> str:
    return f"{count} fields, expected {found.fields}"


def _absent(rows: int) -> Texts:
    return Texts.of([""] * rows)


# -- Parquet ----------------------------------------------------------------------------------------------------------
def _parquet(path: Path, known: Schema) -> Iterator[Callable[[], Chunk]]:
    with reading(path, "a Parquet file"):
        file = need("pyarrow.parquet").ParquetFile(path)
        there = set(file.schema_arrow.names)
    lacking = [name for name in known.sources if name not in there and name not in known.optional]
    if lacking:
        raise DataError(f"{path}: no column {', '.join(lacking)}; there are {', '.join(file.schema_arrow.names)}")
    row = 0
    batches = file.iter_batches(ROWS, columns=[name for name in known.sources if name in there])
    while True:
        with reading(path, "a Parquet file"):
            batch = next(batches, None)
        if batch is None:
            return
        yield partial(_from_batch, batch, row, known)
        row += batch.num_rows


def _from_batch(batch: Any, row: int, known: Schema) -> Chunk:
    texts = {
        name: ArrowTexts(batch.column(name), strip=True, name=name)
        if name in batch.schema.names
        else _absent(batch.num_rows)
        for name in known.sources
    }
    return chunk_of(texts, known, lambda rows: (row + 1 + rows).tolist())

"""The bytes of a click log, in blocks that end where a record ends, whatever is wrong with some of them.

A file is read from front to back, unpacked where it is gzip, and cut where a record ends: at a newline that does not stand
in quotes. Blocks whose quotes are all where they belong (nearly all blocks of nearly all files) are left as bytes, for the
engine to parse. The others are taken apart here, line by line: what cannot be read is kept with its line number and the
reason, and reading goes on with the next line.
"""

from __future__ import annotations

import csv
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from foresee.data.ahead import ahead
from foresee.errors import DataError

#: bytes that are read, and unpacked, at a time
BLOCK = 8 * 2**20
#: a field in quotes may go on over so many lines, and so many bytes; a quote that is open longer was never closed
LINES, OPEN = 1000, 2**20
#: no line is longer
LONGEST = 64 * 2**20
#: how other kinds of files begin
STRANGERS = {
    b"PK\x03\x04": "a zip archive",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}
NEWLINE, QUOTE, RETURN = b'\n"\r'


@dataclass(frozen=True)
class Malformed:
    """A row that could not be used: where it is (lines of a text file counted from 1, rows of Parquet too), and why."""

    line: int
    reason: str


@dataclass(frozen=True)
class Record:
    """The fields of one record, or None where they cannot be told and `reason` says why; `line` is its first."""

    line: int
    fields: list[str] | None
    reason: str = ""


@dataclass(frozen=True)
class Block:
    """Whole records: as bytes in good order, or taken apart already; the first of them stands on line `line`."""

    line: int
    content: bytes = b""
    records: list[Record] | None = None


def blocks(path: Path, delimiter: str, size: int = BLOCK) -> Iterator[Block]:
    """The whole file, block by block."""
    rest, line = b"", 1
    mark = delimiter.encode()
    for piece, damage in _pieces(path, size):
        rest += piece
        if damage:
            rest = rest[: rest.rfind(b"\n") + 1]  # what the damaged line would say cannot be known
        if len(rest) > LONGEST and b"\n" not in rest:
            raise DataError(f"{path}: line {line} is longer than {LONGEST // 2**20} MiB; expected a table in text")
        while rest:
            block, used = _next(rest, line, mark, final=damage is not None)
            if not used:
                break
            if block is not None:
                yield block
            line += rest.count(b"\n", 0, used)
            rest = rest[used:]
        if damage:
            yield Block(line, records=[Record(line, None, damage)])


def _next(rest: bytes, line: int, mark: bytes, *, final: bool) -> tuple[Block | None, int]:
    """The first block of what was read, and how many bytes it took; 0 where more have to be read first."""
    if QUOTE not in rest:
        used = len(rest) if final else rest.rfind(b"\n") + 1
        return Block(line, rest[:used]), used
    content = np.frombuffer(rest, np.uint8)
    quotes = np.flatnonzero(content == QUOTE)
    ends = np.flatnonzero(content == NEWLINE)
    outside = ends[np.searchsorted(quotes, ends) % 2 == 0]
    used = int(outside[-1]) + 1 if len(outside) else 0
    if final and len(quotes) % 2 == 0:
        used = len(rest)
    if well_placed(content[:used], quotes[quotes < used], mark):
        if used and (not final or used == len(rest)):
            return Block(line, rest[:used]), used
        if not final and len(rest) < OPEN:
            return None, 0
    records, used = scan(rest, line, mark.decode(), final=final)
    return Block(line, records=records), used


def well_placed(content: NDArray[np.uint8], quotes: NDArray[Any], mark: bytes) -> bool:
    """Whether all quotes open at the start of a field, close at its end, or stand doubled inside."""
    if len(quotes) % 2:
        return False
    padded = np.concatenate([[NEWLINE], content, [NEWLINE]])
    before, after = padded[quotes[0::2]], padded[quotes[1::2] + 2]
    opens = (before == mark[0]) | (before == NEWLINE) | (before == QUOTE)
    closes = (after == mark[0]) | (after == NEWLINE) | (after == QUOTE) | (after == RETURN)
    return bool(opens.all() and closes.all())


def scan(content: bytes, line: int, delimiter: str, *, final: bool) -> tuple[list[Record], int]:
    r"""Records line by line, and the bytes they took: all that are whole, and of the last block the rest too.

    >>> records, used = scan(b'1,"a\nb"\n2,"c\n3,d\n', 1, ",", final=True)
    >>> [(record.line, record.fields or record.reason) for record in records]
    [(1, ['1', 'a\nb']), (3, 'a quote is opened and never closed'), (4, ['3', 'd'])]
    """
    lines = content.split(b"\n")
    tail = lines.pop()  # what stands after the last newline
    if final and tail:
        lines.append(tail)
    found: list[Record] = []
    at = used = 0
    while at < len(lines):
        one, taken = _record(lines, at, line + at, delimiter, final)
        if taken == 0:
            break
        if one is not None:
            found.append(one)
        used += sum(len(text) + 1 for text in lines[at : at + taken])
        at += taken
    return found, min(used, len(content))


def _record(lines: list[bytes], at: int, line: int, delimiter: str, final: bool) -> tuple[Record | None, int]:
    """The record that begins with this line and how many lines it takes: 0 where the file may go on with it."""
    first = lines[at].removesuffix(b"\r")
    if not first:
        return None, 1
    try:
        text = first.decode()
    except UnicodeDecodeError as error:
        return Record(line, None, f"not UTF-8 text (byte {first[error.start]:#04x})"), 1
    if '"' not in text:
        if "\r" in text:
            return Record(line, None, "a line break of its own kind in the middle of the line"), 1
        return Record(line, text.split(delimiter)), 1
    pieces, length = [text], 0
    while True:
        try:
            return Record(line, next(csv.reader(_ended(pieces), delimiter=delimiter, strict=True))), len(pieces)
        except csv.Error as error:
            if "end of data" not in str(error):
                large = f"a quote is opened and never closed, or {error}"
                return Record(line, None, "text after a closing quote" if "expected" in str(error) else large), 1
        after = at + len(pieces)
        length += len(lines[after]) if after < len(lines) else 0
        if after >= len(lines) and not final and len(pieces) < LINES and length < OPEN:
            return None, 0
        if after >= len(lines) or len(pieces) >= LINES or length >= OPEN:
            return Record(line, None, "a quote is opened and never closed"), 1
        try:
            pieces.append(lines[after].decode().removesuffix("\r"))
        except UnicodeDecodeError:
            return Record(line, None, "a quote is opened and never closed"), 1


def _ended(pieces: list[str]) -> list[str]:
    return [f"{piece}\n" for piece in pieces[:-1]] + pieces[-1:]


def _pieces(path: Path, size: int) -> Iterator[tuple[bytes, str | None]]:
    """The file's bytes, unpacked, each piece with None; the last with "", or with what is wrong with the rest."""
    with path.open("rb") as file:
        first = file.read(6)
        for start, kind in STRANGERS.items():
            if first.startswith(start):
                raise DataError(f"{path}: is {kind}; expected text in UTF-8, plain or compressed by gzip")
        file.seek(0)
        # unpacking waits for nobody: another thread does it while this one works with what is there
        source = ahead(_unpacked(file, size)) if first.startswith(b"\x1f\x8b") else _plain(file, size)
        begun = False
        with closing(source):
            for piece, damage in source:
                yield piece if begun else piece.removeprefix(b"\xef\xbb\xbf"), damage
                begun = begun or bool(piece)


def _plain(file: BinaryIO, size: int) -> Generator[tuple[bytes, str | None], None, None]:
    while len(piece := file.read(size)) == size:
        yield piece, None
    yield piece, ""


def _unpacked(file: BinaryIO, size: int) -> Iterator[tuple[bytes, str | None]]:
    """Gzip: one stream or several after each other; where it is damaged it ends, with the reason."""
    stream, waiting, ended = zlib.decompressobj(wbits=31), b"", False
    while True:
        if not waiting:
            waiting = file.read(2**20)
            ended = not waiting
        if stream.eof:
            waiting = waiting.lstrip(b"\0")  # padding
            if waiting:
                stream = zlib.decompressobj(wbits=31)
            elif ended:
                yield b"", ""
                return
            continue
        try:
            piece = stream.decompress(waiting, size)
        except zlib.error as error:
            yield b"", f"the gzip stream is damaged here, what follows is lost ({error})"
            return
        waiting = stream.unused_data if stream.eof else stream.unconsumed_tail
        if piece:
            yield piece, None
        elif ended and not stream.eof:
            yield b"", "the file ends in the middle of its gzip stream; what follows is lost"
            return

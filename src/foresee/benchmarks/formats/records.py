"""Record files: each record is its length (8 bytes), a checksum of that, the bytes, a checksum of those."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from foresee.benchmarks.formats.base import reading
from foresee.benchmarks.formats.crc32c import masked
from foresee.errors import DataError

#: a record of NAS-Bench-101 has about 500 bytes; a length beyond this is damage
MAX_RECORD = 2**20
_HEADER = struct.Struct("<QI")
_CHECKSUM = struct.Struct("<I")
_BATCH = 4096


def begins_a_record(head: bytes) -> bool:
    """Whether a file's first bytes are a length with its right checksum."""
    if len(head) < _HEADER.size:
        return False
    length, checksum = _HEADER.unpack_from(head)
    return bool(length <= MAX_RECORD and masked([head[:8]])[0] == checksum)


def records(path: Path) -> Iterator[bytes]:
    """The records of a file, each with both checksums right; a `DataError` names the first that is not."""
    with reading(str(path), "a record file"), path.open("rb") as file:
        number = 0
        batch: list[tuple[bytes, int, bytes, int]] = []
        while header := file.read(_HEADER.size):
            if len(header) < _HEADER.size:
                raise DataError(f"{path}: ends in the middle of the header of record {number}; truncated?")
            length, length_checksum = _HEADER.unpack(header)
            if length > MAX_RECORD:
                _check(path, number - len(batch), batch)  # the damage may lie before
                raise DataError(
                    f"{path}: record {number} claims {length:,} bytes, at most {MAX_RECORD:,} are read; damaged?"
                )
            content = file.read(length + _CHECKSUM.size)
            if len(content) < length + _CHECKSUM.size:
                raise DataError(f"{path}: ends in the middle of record {number}; truncated?")
            batch.append((header[:8], length_checksum, content[:length], _CHECKSUM.unpack(content[length:])[0]))
            number += 1
            if len(batch) == _BATCH:
                yield from _check(path, number - len(batch), batch)
                batch = []
        yield from _check(path, number - len(batch), batch)


def _check(path: Path, first: int, batch: Sequence[tuple[bytes, int, bytes, int]]) -> list[bytes]:
    if not batch:
        return []
    lengths, length_checksums, contents, checksums = zip(*batch, strict=True)
    for what, strings, expected in (("length", lengths, length_checksums), ("content", contents, checksums)):
        wrong = (masked(strings) != expected).nonzero()[0]
        if len(wrong):
            raise DataError(f"{path}: the {what} of record {first + wrong[0]} does not match its checksum; damaged?")
    return list(contents)

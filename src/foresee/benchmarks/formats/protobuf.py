"""Reading the fields of a protocol-buffer message, without a library: numbers, doubles and nested bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_DOUBLE = struct.Struct("<d")


def fields(message: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """(field number, value) of each field in order; a `ValueError` where the bytes are no message.

    >>> list(fields(bytes([0x08, 0x96, 0x01, 0x12, 0x02]) + b"hi"))
    [(1, 150), (2, b'hi')]
    """
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, place = _varint(message, place)
            yield number, value
            continue
        if kind == 2:
            size, place = _varint(message, place)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError(f"field {number} of unknown kind {kind}")
        part = message[place : place + size]
        if len(part) < size:
            raise ValueError(f"field {number} ends after {len(part)} of {size} bytes")
        place += size
        yield number, _DOUBLE.unpack(part)[0] if kind == 1 else part


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """A whole number, seven bits in each byte, the lowest first; and the place after it."""
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(message):
            raise ValueError("a number has no end")
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
    raise ValueError("a number of more than ten bytes")

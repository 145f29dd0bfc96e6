"""Small click logs for the tests, made here in each published format."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from foresee.data.clicks.reading.blocks import Malformed
from foresee.data.clicks.reading.chunk import Chunk
from foresee.data.clicks.reading.streaming import chunks
from foresee.data.clicks.schema import Schema

SMALL = Schema(label="y", numeric=("n",), categories=("c",), least=1)


def write(path: Path, content: str | bytes) -> Path:
    """A file, gzip where its name says so."""
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw, mtime=0) if path.suffix == ".gz" else raw)
    return path


def criteo_rows(rows: int, seed: int = 0, cardinality: int = 40) -> list[list[str]]:
    """Rows of 40 fields: a label, 13 counts, 26 hashed categories; some are missing."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(rows):
        counts = ["" if rng.random() < 0.2 else str(int(rng.exponential(50)) - 1) for _ in range(13)]
        names = [
            "" if rng.random() < 0.1 else f"{int(rng.integers(cardinality)) * 2654435761 % 2**32:08x}"
            for _ in range(26)
        ]
        made.append([str(int(rng.random() < 0.3)), *counts, *names])
    return made


def criteo(path: Path, rows: int = 60, seed: int = 0) -> Path:
    """A file as published: tabs, no header line."""
    return write(path, "".join("\t".join(row) + "\n" for row in criteo_rows(rows, seed)))


def small(path: Path, rows: int = 50, seed: int = 0) -> Path:
    """A file of the schema SMALL: `n,c,y` with a header line."""
    rng = np.random.default_rng(seed)
    lines = [f"{rng.integers(500)},v{rng.integers(9)},{rng.integers(2)}" for _ in range(rows)]
    return write(path, "\n".join(["n,c,y", *lines]) + "\n")


def together(path: Path, schema: Schema | str, **settings: int) -> tuple[list[Chunk], list[Malformed]]:
    """All chunks of a file, and all malformed rows that are named."""
    found = list(chunks(path, schema, **settings))
    return found, [one for chunk in found for one in chunk.malformed]


def column(found: list[Chunk], name: str) -> list[str]:
    """The texts of a column of all chunks."""
    return [chunk.texts[name][row] for chunk in found for row in range(len(chunk))]

"""Click logs that are made here, in any published form: for trying things out, for tests, for measuring speed.

    made = generated("clicks.csv", 100_000)              # a CSV with a header line, or form="criteo", "avazu", "kdd2012"
    made.log_loss, made.auc                              # what a model that knew the truth would reach on this file

What is planted in a log is told in `planted.py`. Rows are drawn and written in pieces, so that a file of any length takes
the same memory; the first rows of a longer file are those of a shorter one of the same seed. A share of rows can be
malformed, as in files of the world: cut off, too long, with words where numbers belong.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from foresee.checks import whole
from foresee.data.clicks.made.planted import Floats, Whole
from foresee.data.clicks.made.published import FORMS, Form, Piece
from foresee.errors import InputError, UnknownNameError
from foresee.seeds import derive

#: rows that are drawn at a time
PIECE = 20_000
#: malformed rows that are named; the others are only counted
NAMED = 1_000
#: bins of the true chances, for the best possible AUC
BINS = 1 << 16
#: ways in which a row is malformed
KINDS = ("too few fields", "too many fields", "no label", "no number")


@dataclass(frozen=True)
class Made:
    """A log that was made: how many lines of rows, how many of them are malformed (the first ones with their line numbers,
    counted from 1 with a header line, and what is wrong with them), and what the truth reaches on the others.
    """

    path: Path
    form: str
    rows: int
    clicks: int
    malformed: int
    named: tuple[tuple[int, str], ...]
    log_loss: float
    auc: float

    @property
    def rate(self) -> float:
        """Share of clicks."""
        return self.clicks / max(self.rows - self.malformed, 1)


def generated(
    path: str | os.PathLike[str], rows: int, seed: int = 0, form: str = "csv", *, malformed: float = 0.0
) -> Made:
    """Write a click log of so many rows; whole or not at all. Names ending in .gz are compressed.

    Args:
        path: the file to write; one of that name is replaced.
        rows: lines of rows, malformed ones among them.
        seed: decides everything: the truth, the rows, and which are malformed.
        form: "csv" (a header line, 6 numbers, 8 categories), "criteo", "avazu" or "kdd2012".
        malformed: the share of rows that are damaged.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = generated(f"{folder}/clicks.csv", 2000)
    ...     print(made.path.read_text().split()[0])
    click,price,views,visits,age_days,stock,rank,visitor,item,seller,category,site,campaign,device,place
    >>> 0.15 < made.rate < 0.25 and made.log_loss < 0.45 < 0.7 < made.auc
    True
    """
    target, tally = Path(path), _Tally()
    whole("rows", rows)
    if not 0 <= malformed <= 1:
        raise InputError(f"malformed {malformed}: expected a share from 0 to 1")
    fresh = target.with_name(target.name + ".new")
    try:
        with fresh.open("wb") as raw:
            with _packed(raw) if target.suffix == ".gz" else nullcontext(raw) as out:
                for text in _texts(rows, seed, form, malformed, tally):
                    out.write(text.encode())
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(fresh, target)
    finally:
        fresh.unlink(missing_ok=True)
    return tally.made(target, form, rows)


def lines(rows: int, seed: int = 0, form: str = "csv", *, malformed: float = 0.0) -> list[str]:
    r"""The lines of such a file, the header line among them, for small ones.

    >>> lines(2, form="kdd2012")[0].count("\t"), len(lines(2, form="avazu"))
    (11, 3)
    """
    return "".join(_texts(rows, seed, form, malformed, _Tally())).splitlines()


def _texts(rows: int, seed: int, form: str, malformed: float, tally: _Tally) -> Iterator[str]:
    """The file, piece by piece."""
    if form not in FORMS:
        raise UnknownNameError("form of click logs", form, FORMS)
    how = FORMS[form]
    world = how.world(seed)
    line = 1
    if how.header is not None:
        line = 2
        yield how.delimiter.join(how.header) + "\n"
    for first in range(0, rows, PIECE):
        count = min(PIECE, rows - first)
        rng = np.random.default_rng(derive(seed, "rows", first))
        ranks, counts = world.draw(rng, PIECE)
        chance = world.probability(ranks, counts)
        clicked = (rng.random(PIECE) < chance).astype(np.int64)
        columns = how.columns(Piece(world, first, ranks, counts, clicked, rng))
        made = list(map(how.delimiter.join, zip(*(column[:count] for column in columns), strict=True)))
        damaged = np.flatnonzero(rng.random(PIECE)[:count] < malformed)
        for row in damaged.tolist():
            kind = KINDS[(first + row) % (len(KINDS) if how.number is not None else len(KINDS) - 1)]
            made[row] = _damaged(made[row], kind, how)
            tally.damage(line + first + row, kind)
        tally.take(np.delete(chance[:count], damaged), np.delete(clicked[:count], damaged))
        yield "\n".join(made) + "\n"


def _packed(raw: BinaryIO) -> gzip.GzipFile:
    """Compressed, without a name and a time inside, so that equal logs are equal files."""
    return gzip.GzipFile("", "wb", compresslevel=3, fileobj=raw, mtime=0)


def _damaged(row: str, kind: str, form: Form) -> str:
    fields = row.split(form.delimiter)
    if kind == "too few fields":
        fields = fields[: len(fields) // 2]
    elif kind == "too many fields":
        fields += ["", "1"]
    else:
        place = form.label if kind == "no label" else form.number
        assert place is not None
        fields[place] = "oops"
    return form.delimiter.join(fields)


class _Tally:
    """Counts what is written, and what the truth reaches on it."""

    def __init__(self) -> None:
        self._bins = np.zeros((2, BINS), np.int64)
        self._loss, self._damaged, self._named = 0.0, 0, list[tuple[int, str]]()

    def take(self, chance: Floats, clicked: Whole) -> None:
        self._loss -= float(np.log(np.where(clicked == 1, chance, 1 - chance)).sum())
        place = np.minimum((chance * BINS).astype(np.int64), BINS - 1)
        for side in (0, 1):
            self._bins[side] += np.bincount(place[clicked == side], minlength=BINS)

    def damage(self, line: int, kind: str) -> None:
        self._damaged += 1
        if len(self._named) < NAMED:
            self._named.append((line, kind))

    def made(self, path: Path, form: str, rows: int) -> Made:
        no, yes = self._bins.astype(np.float64)
        below = np.cumsum(no) - no / 2  # those of the same bin are ties
        auc = float((yes * below).sum() / max(yes.sum() * no.sum(), 1.0)) if yes.sum() and no.sum() else float("nan")
        loss = self._loss / max(no.sum() + yes.sum(), 1.0)
        return Made(path, form, rows, int(yes.sum()), self._damaged, tuple(self._named), float(loss), auc)

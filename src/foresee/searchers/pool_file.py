"""A pool from a file: architectures with scores that were made elsewhere, checked as everything that comes from outside."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foresee.errors import ForeseeError, InfeasibleError, InputError, UnknownNameError, shown
from foresee.searchers.gate import Gate
from foresee.searchers.problem import Problem
from foresee.seeds import stream

#: a file larger than this is not read
MOST_BYTES = 2**28
#: the column of a file that holds the texts
TEXTS = "architecture"


def admitted(problem: Problem, texts: Sequence[str], where: str) -> list[int]:
    """The places of those texts that may be searched: within the limits, measured where that is followed, nobody twice.

    Raises:
        InputError: a text is no architecture of the space.
        InfeasibleError: none of them may.
    """
    gate, places = Gate(problem), []
    for place, text in enumerate(texts):
        try:
            architecture = problem.space.parse(text)
        except ForeseeError as error:
            raise InputError(
                f"{where}, row {place + 2}: {shown(text, 60)} is no architecture of {problem.space.name}: {error}"
            ) from error
        if gate.admit(architecture) is not None:
            places.append(place)
    if not places:
        why = f"meets {problem.limits}" if problem.limits else "is known to the table that is searched"
        raise InfeasibleError(f"{where}: no architecture of {len(texts)} {why}")
    return places


def read(path: str | Path, columns: Sequence[str]) -> tuple[list[str], dict[str, list[float | None]]]:
    """The texts of a file of scores and these of its columns: a csv with the column `architecture` and one for each proxy.

    None where a place is empty or holds no finite number (nan, inf).

    Raises:
        InputError: it cannot be read, lacks a column, or holds something that is no number.
    """
    header, rows = _rows(Path(path))
    for name in (TEXTS, *columns):
        if name not in header:
            raise UnknownNameError(f"column of {path}", name, header)
    found = {name: [row[header.index(name)].strip() for row in rows] for name in (TEXTS, *columns)}
    return found[TEXTS], {name: _numbers(path, name, found[name]) for name in columns}


def _rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows, each as long as the header."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path}: more than {MOST_BYTES // 2**20} MiB, too large for a pool")
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""), strict=True))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path}: not a csv file ({error})") from error
    header, rows = [name.strip() for name in lines[0]] if lines else [], lines[1:]
    if len(set(header)) < len(header):
        raise InputError(f"{path}: a column comes twice")
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise InputError(f"{path}, row {number}: {len(row)} entries, expected {len(header)}; truncated?")
    if not rows:
        raise InputError(f"{path}: no rows of architectures")
    return header, rows


def _numbers(path: str | Path, name: str, texts: Sequence[str]) -> list[float | None]:
    found: list[float | None] = []
    for number, text in enumerate(texts, 2):
        try:
            value = float(text) if text else math.nan
        except ValueError:
            raise InputError(f"{path}, row {number}: {name} is {shown(text, 40)}, expected a number") from None
        found.append(value if math.isfinite(value) else None)
    return found


def taken(problem: Problem, path: str | Path, columns: Sequence[str], many: int, seed: int) -> dict[str, list[Any]]:
    """A pool of a file of scores, by column: those that may be searched, of more than `many` so many drawn by the seed."""
    texts, numbers = read(path, columns)
    places = admitted(problem, texts, str(path))
    if len(places) > many:
        places = sorted(stream(seed, "pool").sample(places, many))
    return part({TEXTS: texts, **numbers}, places)


def part(pool: Mapping[str, Sequence[Any]], places: Sequence[int]) -> dict[str, list[Any]]:
    """These places of every column."""
    return {name: [values[place] for place in places] for name, values in pool.items()}

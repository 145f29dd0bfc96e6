"""How the architectures of a csv are spelled: from the entries of a row to the text of a space.

A *spelling* knows by the file which space it is of, and gives a function of one row's entries. What it refuses is told with
the file, the row and the column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from foresee.benchmarks.formats.base import File
from foresee.errors import DataError, ForeseeError

#: from the entries of a row to the text of an architecture
Spell = Callable[..., str]
_OP = "(?:none|skip_connect|nor_conv_1x1|nor_conv_3x3|avg_pool_3x3)"
_CELL = re.compile(r"\+".join(r"\|" + "".join(rf"{_OP}~{source}\|" for source in range(n)) for n in (1, 2, 3)))
_WIDTH = "(?:8|16|24|32|40|48|56|64)"
_WIDTHS = re.compile(f"{_WIDTH}(?::{_WIDTH}){{4}}")


def texts(file: File, columns: Sequence[str], spell: Spell) -> Iterator[str]:
    """The text of each row; whatever is wrong is told with its place."""
    first: dict[str, int] = {}
    for row, entries in enumerate(zip(*(file.columns[name] for name in columns), strict=True)):
        where = f"{file.where}, row {file.line(row)}, column {' and '.join(columns)}"
        try:
            text = spell(*(entry.strip() for entry in entries))
        except ForeseeError as error:
            raise DataError(f"{where}: {error}") from error
        if not text:
            raise DataError(f"{where}: no architecture; leave out the row, or say which it is of")
        if first.setdefault(text, row) != row:
            raise DataError(f"{where}: {text} comes twice, first in row {file.line(first[text])}; keep one row of it")
        yield text


def restored(entries: Sequence[str], width: int) -> bool:
    """Whether digits lost the zeros in front, as they do where a program took them for numbers: no entry has one, and some
    are shorter.

    >>> restored(["12", "10200000"], 8), restored(["00000012", "1020000"], 8)
    (True, False)
    """
    digits = [entry.strip() for entry in entries]
    return any(len(one) < width for one in digits) and not any(one.startswith("0") and one != "0" for one in digits)


# -- what a first entry looks like ------------------------------------------------------------------------------------------
def looks_nasbench201(text: str) -> bool:
    """Three nodes joined by +."""
    return "~" in text and text.startswith("|") and "+" in text


def looks_widths(text: str) -> bool:
    """Five numbers joined by colons."""
    return re.fullmatch(r"\d{1,4}(?::\d{1,4}){4}", text) is not None


def looks_macro(text: str) -> bool:
    """Eight digits."""
    return re.fullmatch("[012]{8}", text) is not None


# -- the spaces -------------------------------------------------------------------------------------------------------------
def nasbench201(file: File, space: str, columns: Sequence[str]) -> Spell:
    """The benchmark's text."""

    def spell(text: str) -> str:
        if _CELL.fullmatch(text) is None:  # something is wrong, and the space says what; otherwise torch is not needed
            from foresee.spaces.nasbench201.architecture import Architecture

            return str(Architecture.parse(text))
        return text

    return spell


def widths(file: File, space: str, columns: Sequence[str]) -> Spell:
    """Five widths of the size space."""

    def spell(text: str) -> str:
        if _WIDTHS.fullmatch(text) is None:
            from foresee.spaces.nats_size.space import NATSSize

            return str(NATSSize().parse(text))
        return text

    return spell


def macro(file: File, space: str, columns: Sequence[str]) -> Spell:
    """Eight digits of NAS-Bench-Macro; zeros that were lost in front are put back."""
    lost = restored(file.columns[columns[0]], 8)

    def spell(text: str) -> str:
        digits = text.zfill(8) if lost and text else text
        if looks_macro(digits):
            return digits
        from foresee.spaces.nasbench_macro.architecture import Architecture

        return str(Architecture.parse(digits))

    return spell


def nasbench101(file: File, space: str, columns: Sequence[str]) -> Spell:
    """The upper triangle of the matrix, and the operations."""
    from foresee.spaces.nasbench101.cell import Architecture

    return lambda matrix, ops: str(Architecture.from_matrix(matrix, ops))


def nasbench1shot1(file: File, space: str, columns: Sequence[str]) -> Spell:
    """The whole matrix, and the operations."""
    from foresee.spaces.find import get

    made = get(space, loose_ends="listed")
    return lambda matrix, ops: str(made.from_matrix(matrix, ops))  # type: ignore[attr-defined]


def transnas(file: File, space: str, columns: Sequence[str]) -> Spell:
    """Six digits of a cell, or four to six of a skeleton; or the benchmark's whole text."""
    from foresee.spaces.transnas.text import MacroArchitecture, MicroArchitecture

    if space == "transnas_macro":
        return lambda text: str(MacroArchitecture.parse(text) if "-" in text else MacroArchitecture(text))
    lost = restored(file.columns[columns[0]], 6)

    def spell(text: str) -> str:
        if "-" in text:
            return str(MicroArchitecture.parse(text))
        return str(MicroArchitecture.from_digits(text.zfill(6) if lost and text else text))

    return spell


def darts(file: File, space: str, columns: Sequence[str]) -> Spell:
    """Genotypes or pairs."""
    from foresee.spaces.darts.text import parse

    return lambda text: str(parse(text))


# -- which space, where a file decides --------------------------------------------------------------------------------------
def which_1shot1(file: File, asked: str | None) -> str:
    """The number in the column `space`."""
    numbers = {text.strip() for text in file.columns["space"]}
    if len(numbers) != 1 or not numbers <= {"1", "2", "3"}:
        raise DataError(
            f"{file.where}, column space: spaces {', '.join(sorted(numbers))}, expected one of 1, 2, 3 in all rows"
        )
    return f"nasbench1shot1_s{numbers.pop()}"


def which_transnas(file: File, asked: str | None) -> str:
    """Cells have six digits from 0 to 3, skeletons four to six from 1 to 4: a table of one of them shows which soon enough.

    A few rows may fit both; then the space that is asked for decides, or the file's name.
    """
    stated = asked if asked in ("transnas_micro", "transnas_macro") else None
    digits = [text.strip() for text in file.columns["arch"]]
    cells = [row for row, text in enumerate(digits) if ("0" in text or "_" in text) and "basic" not in text]
    skeletons = [row for row, text in enumerate(digits) if "basic" in text or ("4" in text and "_" not in text)]
    if cells and skeletons:
        if stated:
            return stated
        cell, skeleton = file.line(cells[0]), file.line(skeletons[0])
        raise DataError(
            f"{file.where}, column arch: a cell of transnas_micro in row {cell} ({digits[cells[0]][:40]!r}) and a skeleton "
            f"of transnas_macro in row {skeleton} ({digits[skeletons[0]][:40]!r}); a table has one space"
        )
    if cells or skeletons:
        return "transnas_micro" if cells else "transnas_macro"
    if any(len(text) in (4, 5) for text in digits):
        return "transnas_macro"
    named = next((f"transnas_{name}" for name in ("micro", "macro") if name in file.path.name.lower()), None)
    found = stated or named
    if found is None:
        raise DataError(
            f"{file.where}, column arch: its digits can be cells or skeletons; say --space transnas_micro or transnas_macro"
        )
    return found

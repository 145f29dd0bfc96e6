"""What each column of a click log is taken for, and why: label, number, category, time, split, or left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from foresee.data.clicks.guessing.evidence import ROW_NAMES, SHAPES, Column
from foresee.data.clicks.guessing.labels import Label, other_outcomes
from foresee.data.clicks.guessing.leaks import leaks
from foresee.data.clicks.guessing.sampling import NUMBER, Sample
from foresee.data.clicks.reading.texts import COMMAS
from foresee.grid import listed

Role = Literal["label", "number", "category", "time", "split", "left out"]
#: characters of a text that nobody repeats
LONG = 60
#: rows from which on a value that is another in every one of them is a row's number
ENOUGH = 50


@dataclass(frozen=True)
class Guessed:
    """What one column is taken for, and why."""

    name: str
    role: Role
    reason: str
    examples: tuple[str, ...] = ()
    distinct: int = 0
    missing: float = 0.0
    format: str = ""
    clocked: bool = False


def roles(columns: Sequence[Column], label: Label, seen: Sample) -> tuple[tuple[Guessed, ...], list[str]]:
    """What each column is taken for, and what should be looked at twice."""
    (own,) = (one for one in columns if one.name == label.name)
    yes = np.array([value in label.positive for value in own.values])
    if label.positive == (">0",) and own.numbers is not None:
        yes = np.array([value not in ("", "0") for value in own.values])
    families, outcomes = _families(columns), other_outcomes(columns, label.name)
    made, warnings = list[Guessed](), list[str]()
    for one in columns:
        more: dict[str, Any] = {}
        role: Role
        if one.name == label.name:
            role, reason = "label", label.reason
        elif one.split and not any(other.role == "split" for other in made):
            role, reason = "split", f"its values are {listed(sorted(one.counts))}"
        elif one.parting:
            role, reason = "left out", "says which part a row belongs to, in words that are not known"
            warnings.append(f"{one.name} is left out, and rows are split at random; a schema can split by it")
        elif one.name in outcomes:
            role, reason = "left out", "called as a label is: an outcome too, which nobody knows before"
            warnings.append(f"{one.name} is left out: it looks like another outcome; --label {one.name} foresees it")
        elif why := leaks(one, yes):
            role, reason = "left out", f"{why}: it may be known only afterwards"
            warnings.append(f"{one.name} is left out: {why}; name it in a schema if it is known before")
        elif one.time and len(one.counts) > 1:
            role, reason = (
                "time",
                f"times ({one.time}): {'hour and weekday' if one.clocked else 'the weekday'} are used",
            )
            more = {"format": one.time, "clocked": one.clocked}
        else:
            role, reason = _role(one, families, seen)
        if one.european and role == "number":
            more = {"format": "commas"}
            odd = next((value for value in one.counts if not COMMAS.fullmatch(value)), None)
            if odd is not None:
                warnings.append(f"{one.name} has decimal commas, but not in {odd!r}: rows like that will be malformed")
        if role == "number" and one.numbers is not None and len(one.numbers) < len(one.there):
            odd = next(value for value in one.counts if not NUMBER.fullmatch(value))
            warnings.append(f"{one.name} has values that are no numbers, such as {odd!r}: these rows will be malformed")
        examples = tuple(value for value, _ in one.counts.most_common(3))
        made.append(Guessed(one.name, role, reason, examples, len(one.counts), one.missing, **more))
    return tuple(made), warnings


def _role(one: Column, families: dict[str, bool], seen: Sample) -> tuple[Role, str]:
    """Of a column that is no label, split or time."""
    many = len(one.counts)
    if many <= 1 and seen.whole:
        return "left out", "the same in every row" if many and not one.missing else "missing, or always the same"
    if not many:
        return "left out", "missing in all rows that were looked at"
    if many <= 1:
        return "category", "one value in the rows that were looked at"
    if one.european:
        return "number", "numbers with decimal commas"
    unique = many == len(one.there) >= ENOUGH and (one.numbers is None or one.whole) and one.said != "quantity"
    if unique and (seen.whole or one.plain_name in ROW_NAMES or one.said != "code"):
        return "left out", "another value in every row: nothing to learn from"
    if one.numbers is None:
        if many > 0.9 * len(one.there) and float(np.mean([len(value) for value in one.there[:1000]])) > LONG:
            return "left out", "long texts that hardly repeat"
        return "category", _words(one)
    if not one.whole:
        return "number", "numbers with decimals"
    return _whole(one, families)


def _whole(one: Column, families: dict[str, bool]) -> tuple[Role, str]:
    """Of a column of whole numbers: a quantity, or a code."""
    if one.padded:
        return "category", "digits that begin with 0: a code"
    if len(one.counts) == 2:
        return "category", "two values"
    if one.said == "quantity":
        return "number", "whole numbers, and the name says a quantity"
    if one.said == "code":
        return "category", "whole numbers, but the name says a code"
    family = _family(one.name)
    if family in families and families[family] != SHAPES[one.shape][0]:
        kind = "quantities" if families[family] else "codes"
        return ("number" if families[family] else "category"), f"whole numbers; most columns {family}... are {kind}"
    quantity, reason = SHAPES[one.shape]
    return ("number" if quantity else "category"), reason


def _families(columns: Sequence[Column]) -> dict[str, bool]:
    """Columns that are numbered alike, by what comes before the number: whether most that can be told are quantities."""
    votes: dict[str, list[bool]] = {}
    for one in columns:
        family = _family(one.name)
        if family and one.whole and not one.said and len(one.counts) > 2 and one.shape != "few":
            votes.setdefault(family, []).append(SHAPES[one.shape][0])
    return {family: sum(some) * 2 > len(some) for family, some in votes.items() if len(some) > 1}


def _family(name: str) -> str:
    match = re.fullmatch(r"(.*?\D)\d+", name)
    return match[1] if match and not name.startswith("column_") else ""


def _words(one: Column) -> str:
    lengths = {len(value) for value in one.counts}
    if len(lengths) == 1 and max(lengths) >= 8 and all(re.fullmatch("[0-9a-fA-F]+", value) for value in one.counts):
        return "hashes"
    if all(re.fullmatch(r"\[.*\]|\{.*\}", value) for value in one.counts):
        return "lists: each whole list is one value"
    return "two values" if len(one.counts) == 2 else "words"

"""What the text of a label means: yes, no, or nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from foresee.errors import InputError, shown


def answers(positive: tuple[str, ...], negative: tuple[str, ...], called: str) -> Callable[[str], bool | None]:
    """From the text of a label to yes, no, or None where it is neither, by the rules of `Schema`.

    >>> [answers((">0",), (), "schema")(text) for text in ("3", "0", "many")]
    [True, False, None]
    """
    if any(re.match(r"[<>]", text) and _as_number(text[1:]) is not None for text in positive):
        if len(positive) != 1 or negative:
            raise InputError(f"{called}: positive {shown(positive)}: a bound such as '>0' stands alone")
        bound, above = float(positive[0][1:]), positive[0][0] == ">"
        return lambda text: None if (x := _as_number(text)) is None else (x > bound if above else x < bound)
    yes = {_same(text) for text in positive}
    no = {_same(text) for text in negative or (("0",) if yes == {1.0} else ())}
    if yes & no:
        raise InputError(f"{called}: {shown(sorted(map(str, yes & no)))} means yes and no")

    def answer(text: str) -> bool | None:
        is_yes = _same(text) in yes
        return is_yes if is_yes or not no or _same(text) in no else None

    return answer


def _as_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _same(text: str) -> float | str:
    """What two texts have in common that mean the same: their number, or themselves."""
    stripped = text.strip()
    number = _as_number(stripped)
    return stripped if number is None else number

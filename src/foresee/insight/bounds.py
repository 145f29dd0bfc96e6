"""What an explanation does not go into: networks too large for a quick look, and numbers that are none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from foresee.errors import UnsupportedError
from foresee.quantities import format_quantity

T = TypeVar("T")


def finite(part: T) -> T:
    """The part, if all its numbers are numbers: pictures and JSON know no others."""
    if hasattr(part, "to_json") and not all_numbers(part.to_json()):
        raise FloatingPointError("its numbers are not all finite")
    return part


def all_numbers(plain: Any) -> bool:
    """Whether plain values hold no NaN and no infinity.

    >>> all_numbers({"a": [1, 2.0, None]}), all_numbers({"a": [float("nan")]})
    (True, False)
    """
    if isinstance(plain, Mapping):
        return all(map(all_numbers, plain.values()))
    if isinstance(plain, list | tuple):
        return all(map(all_numbers, plain))
    return not isinstance(plain, float) or math.isfinite(plain)


def affordable(macs: int | None, most: float, why: str) -> None:
    """Raise where a network is too large for what takes many runs of it."""
    if macs is not None and macs > most:
        raise UnsupportedError(
            f"{why}, and this one has {format_quantity(macs)} MACs, more than {format_quantity(most)}"
        )

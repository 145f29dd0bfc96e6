"""Settings of the space of mobile networks: a design with what was given instead, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from foresee.checks import whole
from foresee.errors import InputError, UnknownNameError, shown
from foresee.spaces.mobile.designs import ACTIVATIONS, EACH, SQUEEZES, Design


def adapted(base: Design, given: Mapping[str, Any], of: str) -> Design:
    """The design with other values for some of its fields; `of` begins every message.

    Where there are other widths, a stage beyond those of the design has the stride and the gates of its last.
    """
    known = {name: _CHECKS[name](name, value, of) for name, value in given.items()}
    stages = len(known.get("widths", base.widths))
    for name in ("strides", "squeeze"):
        value = known.get(name, getattr(base, name))
        if isinstance(value, str):
            value = (value,) * stages
        if name not in known:
            value = (*value, *value[-1:] * stages)[:stages]
        if len(value) != stages:
            raise InputError(f"{of}: {len(value)} {name} for {stages} widths, expected one for each")
        known[name] = value
    return replace(base, **known)


def _sequence(name: str, value: Any, of: str) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise InputError(f"{of}: {name} {shown(value)}, expected a list of numbers")
    return tuple(value)


def _wholes(name: str, value: Any, of: str, *, most: int | None = None) -> tuple[int, ...]:
    numbers = _sequence(name, value, of)
    for one in numbers:
        whole(name, one, most=most, of=of)
    return numbers


def _different(name: str, values: tuple[Any, ...], of: str) -> tuple[Any, ...]:
    """Ascending."""
    if len(set(values)) < len(values):
        raise InputError(f"{of}: {name} {shown(list(values))}, expected each once")
    return tuple(sorted(values))


def _expansions(name: str, value: Any, of: str) -> tuple[float, ...]:
    numbers = _sequence(name, value, of)
    if not all(isinstance(one, int | float) and not isinstance(one, bool) and 1 <= one <= 100 for one in numbers):
        raise InputError(f"{of}: {name} {shown(list(numbers))}, expected numbers from 1 to 100")
    return _different(name, tuple(round(float(one), 2) for one in numbers), of)  # as the text writes them


def _kernels(name: str, value: Any, of: str) -> tuple[int, ...]:
    numbers = _different(name, _wholes(name, value, of, most=99), of)
    if any(one % 2 == 0 for one in numbers):
        raise InputError(f"{of}: {name} {list(numbers)}, expected odd numbers")
    return numbers


def _word(words: Sequence[str]) -> Callable[[str, Any, str], str]:
    def check(name: str, value: Any, of: str) -> str:
        if value not in words:
            raise UnknownNameError(f"{name} of {of}", str(value), words)
        return str(value)

    return check


def _squeeze(name: str, value: Any, of: str) -> str | tuple[str, ...]:
    check = _word(SQUEEZES)
    return check(name, value, of) if isinstance(value, str) else tuple(check(name, one, of) for one in value)


def _number(least: int, most: int | None = None) -> Callable[[str, Any, str], int]:
    def check(name: str, value: Any, of: str) -> int:
        whole(name, value, least, most=most, of=of)
        return int(value)

    return check


_CHECKS: dict[str, Callable[[str, Any, str], Any]] = {
    "widths": _wholes,
    "strides": lambda name, value, of: _wholes(name, value, of, most=2),
    "expansions": _expansions,
    "kernels": _kernels,
    "layers": lambda name, value, of: _different(name, _wholes(name, value, of, most=99), of),
    "squeeze": _squeeze,
    "each": _word(EACH),
    "activation": _word(ACTIVATIONS),
    "stem_stride": _number(1, 2),
    **{name: _number(1) for name in ("stem", "head")},
    **{name: _number(0) for name in ("first", "features")},
}

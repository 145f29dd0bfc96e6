"""Checks of values that are handed in, each with one message for all who ask."""

from __future__ import annotations

from foresee.errors import InputError, shown


def whole(name: str, value: object, least: int = 1, *, most: int | None = None, of: str = "") -> None:
    """Refuse what is no whole number from `least` to `most`; `of` says whose setting `name` is. True is not 1.

    >>> whole("cells", 0, of="space nasbench201")
    Traceback (most recent call last):
    foresee.errors.InputError: space nasbench201: cells 0, expected a whole number of at least 1
    >>> whole("layers", 2.0)
    Traceback (most recent call last):
    foresee.errors.InputError: layers 2.0: expected a whole number of at least 1
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= least and (most is None or value <= most):
        return
    expected = f"expected a whole number of at least {least}" + ("" if most is None else f" and at most {most:,}")
    raise InputError(f"{of}: {name} {shown(value)}, {expected}" if of else f"{name} {shown(value)}: {expected}")

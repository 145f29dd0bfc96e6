"""Public names that are imported on first use, so that importing a room stays light."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package: `homes` is public name -> module it lives in.

    A module must not have a public name of its package: importing it would put the module in the place of the thing.

    >>> get, names = lazily("foresee", {"derive": "foresee.seeds"})
    >>> get("derive").__name__, names()
    ('derive', ['derive'])
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(homes)


def find(module: str, name: str) -> Any:
    """What `module` calls `name`, imported now: for a library that may not be there, and for a result that is asked to draw
    itself, the one way up the house.

    >>> find("foresee.seeds", "derive").__name__
    'derive'
    """
    return getattr(importlib.import_module(module), name)

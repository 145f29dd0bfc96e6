"""What a kind of case is, and how the kinds are found: every file in `hostile/kinds` is one."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from foresee.errors import UnknownNameError

#: what a kind that says nothing else allows one of its cases
SECONDS = 60.0
MEBIBYTES = 3072


@dataclass(frozen=True)
class Kind:
    """One kind of case: its promise in a line, and how a case is tried within which bounds."""

    name: str
    promise: str
    case: Callable[[random.Random, Path], None]
    seconds: float = SECONDS
    mebibytes: int = MEBIBYTES


def names(room: str = "hostile.kinds") -> list[str]:
    """All kinds, sorted; none of their files is imported for it."""
    return sorted(found.name for found in iter_modules(import_module(room).__path__))


def load(name: str, room: str = "hostile.kinds") -> Kind:
    """The kind of this name; its file is imported."""
    if name not in names(room):
        raise UnknownNameError("kind of case", name, names(room))
    module = import_module(f"{room}.{name}")
    promise = (module.__doc__ or "").strip().partition("\n")[0]
    return Kind(
        name, promise, module.case, getattr(module, "SECONDS", SECONDS), getattr(module, "MEBIBYTES", MEBIBYTES)
    )

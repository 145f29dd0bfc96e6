"""A space by its name, or by the user's own code; and which of these a file may name.

No file names code. A table, a run, its settings or a `best.json` may name a registered space; `module:function` is code,
which is run only when the person names it, on the command line or in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from foresee.errors import InputError
from foresee.registry import check_settings, tidy
from foresee.spaces.base import Space, spaces
from foresee.spaces.own import load, own

#: how a person says which space is meant
Said = str | Space[Any] | Callable[..., nn.Module]


def get(reference: Said, **settings: Any) -> Space[Any]:
    """A space by registered name (`nasbench201`), by `module:function` or `file.py:function` (an own space), of a function
    `make_net(pick)`, or itself.
    """
    if isinstance(reference, Space):
        return reference
    if not isinstance(reference, str):
        return own(reference, **settings)
    if is_code(reference):
        return load(reference, **settings)
    kind = spaces[reference]
    check_settings(f"space {reference}", kind, settings)
    try:
        return kind(**settings)
    except TypeError as error:
        raise InputError(f"space {reference}: {error}") from error


def is_code(reference: str) -> bool:
    """Whether a text is the place of code, and no registered name.

    >>> is_code("nasbench201"), is_code("my_package.nets:make_net"), is_code("nets.py:make_net")
    (False, True, True)
    """
    return ":" in reference


def tidied(reference: str) -> str:
    """The inside form of a name; the place of code stays as it was typed.

    >>> tidied("nats-size"), tidied("my-nets/nets.py:make")
    ('nats_size', 'my-nets/nets.py:make')
    """
    return reference if is_code(reference) else tidy(reference)


def check_named(where: str, name: str, say: str) -> None:
    """Refuse a file that names code; `say` is what the person types to name it."""
    if is_code(name):
        raise InputError(
            f"{where}: its space {name} is code, and no code is run because a file names it; if it is yours, say so: {say}"
        )

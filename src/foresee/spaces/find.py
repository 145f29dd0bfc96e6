"""A space by its name, or by the user's own code; and which of these a file may name.

No file names code. A table, a run, its settings or a `best.json` may name a registered space; `module:function` is code,
which is run only when the person names it, on the command line or in Python.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from torch import nn

from foresee.errors import InputError
from foresee.references import check_named, is_code, tidied
from foresee.registry import check_settings
from foresee.spaces.base import Space, spaces
from foresee.spaces.own import GIVEN, load, own

__all__ = ["Said", "check_named", "get", "is_code", "say_space", "tidied"]

#: how a person says which space is meant
Said = str | Space[Any] | Callable[..., nn.Module]


def say_space(name: str) -> str:
    """The argument by which a person says in Python that the code a file names is theirs.

    >>> say_space("nets:make_net"), say_space("given:make_net")
    ('space="nets:make_net"', 'space=make_net')
    """
    place, _, function = name.rpartition(":")
    return f"space={function}" if place == GIVEN else f"space={json.dumps(name)}"


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

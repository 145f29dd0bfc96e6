"""A space by its name, or by the place of the user's own code."""

from __future__ import annotations

from typing import Any

from foresee.errors import InputError
from foresee.registry import check_settings
from foresee.spaces.base import Space, spaces
from foresee.spaces.own import load


def get(reference: str | Space[Any], **settings: Any) -> Space[Any]:
    """A space by registered name (`nasbench201`), by `module:function` or `file.py:function` (an own space), or itself."""
    if isinstance(reference, Space):
        return reference
    if ":" in reference:
        return load(reference, **settings)
    kind = spaces[reference]
    check_settings(f"space {reference}", kind, settings)
    try:
        return kind(**settings)
    except TypeError as error:
        raise InputError(f"space {reference}: {error}") from error

"""Writing TOML (the standard library only reads it): plain values, lists, and tables in tables."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from foresee.errors import InputError


def dumps(values: Mapping[str, Any]) -> str:
    """TOML text whose reading gives `values` back; None has no form in TOML and is left out.

    >>> print(dumps({"seed": 1, "proxies": ["dextr"], "limits": {"params": {"max": 600000}}}), end="")
    seed = 1
    proxies = ["dextr"]
    <BLANKLINE>
    [limits.params]
    max = 600000
    """
    lines: list[str] = []
    _table(lines, (), values)
    return "\n".join(lines).lstrip("\n") + "\n"


def _table(lines: list[str], path: tuple[str, ...], values: Mapping[str, Any]) -> None:
    plain = {key: value for key, value in values.items() if not isinstance(value, Mapping) and value is not None}
    if path and (plain or not values):
        lines += ["", f"[{'.'.join(_key(part) for part in path)}]"]
    lines += [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in values.items():
        if isinstance(value, Mapping):
            _table(lines, (*path, key), value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _text(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped as well.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        return repr(value) if math.isfinite(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(part) for part in value)}]"
    if isinstance(value, Mapping):  # only inside a list
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None) + "}"
    raise InputError(f"setting of type {type(value).__name__} has no form in TOML: {value!r}")

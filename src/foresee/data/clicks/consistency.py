"""Whether what a schema says of its columns fits together."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from foresee.data.clicks.reading.times import TAKE
from foresee.errors import InputError, UnknownNameError, shown

if TYPE_CHECKING:
    from foresee.data.clicks.schema import Schema


def check_columns(schema: Schema, called: str) -> None:
    """Refuse a schema whose parts contradict each other; `called` is how it is named."""
    if not schema.label:
        raise InputError(f"{called}: label is empty; expected the name of a column")
    if not schema.features:
        raise InputError(f"{called}: neither numeric nor categories; expected at least one column to learn from")
    seen: set[str] = set()
    for one in (schema.label, *schema.features):
        if one in seen:
            raise InputError(f"{called}: column {shown(one)} is named twice among label, numeric and categories")
        seen.add(one)
    if schema.columns is not None and len(set(schema.columns)) < len(schema.columns):
        raise InputError(f"{called}: columns: a name stands there twice")
    if isinstance(schema.log, tuple):
        for one in schema.log:
            if one not in schema.numeric:
                raise UnknownNameError(f"numeric column in log of {called}", one, schema.numeric)
    for one in schema.decimal_commas or ():
        if one not in schema.numeric or one in schema.derived:
            raise UnknownNameError(f"numeric column in decimal_commas of {called}", one, schema.numeric)
    for one in schema.optional:
        if one == schema.label or one not in schema.features:
            raise UnknownNameError(f"column in optional of {called}", one, schema.features)
    for made, of in schema.derived.items():
        _check_derived(schema, called, made, of)
    if schema.columns is not None:
        sources = (*(of.get("from", "") for of in schema.derived.values()), *schema.features)
        for one in (schema.label, *(one for one in sources if one not in schema.derived)):
            if one not in schema.columns:
                raise UnknownNameError(f"column of {called}, not in columns:", one, schema.columns)


def _check_derived(schema: Schema, called: str, made: str, of: Any) -> None:
    sound = isinstance(of, Mapping) and set(of) == {"from", "take", "format"}
    if not sound or not all(isinstance(one, str) for one in of.values()):
        raise InputError(f"{called}: derived {made}: expected from, take and format, not {shown(of)}")
    if of["take"] not in TAKE:
        raise UnknownNameError(f"part of a time (take) of {made}", str(of["take"]), TAKE)
    if made not in schema.features:
        raise InputError(f"{called}: derived {made} is neither among numeric nor among categories")
    try:
        datetime.strptime("", of["format"])
    except ValueError as error:
        if "does not match" not in str(error) and of["format"] not in ("iso", "unix", "unix_ms"):
            raise InputError(f"{called}: derived {made}: format {shown(of['format'])}: {error}") from error

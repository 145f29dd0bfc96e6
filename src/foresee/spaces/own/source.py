"""The source of a function that no name leads back to: of a notebook cell, a prompt, or inside another function.

A run keeps it as text, for people and to see whether the function is still the same when the run is resumed. It is never
executed from there.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from foresee.errors import InputError


def source_of(function: Callable[..., Any]) -> str:
    """The source of a function, of the functions and classes it uses of its own module, and the plain values it sees.

    Raises:
        InputError: the source cannot be read.

    >>> print(source_of(source_of).partition("(")[0])
    def source_of
    """
    found: dict[str, str] = {}
    _gather(inspect.unwrap(function), function.__module__, found)
    return "\n\n".join(found.values()) + "\n"


def digest(source: str) -> str:
    """A short name of a source.

    >>> digest("a") == digest("a") != digest("b")
    True
    """
    return hashlib.blake2b(source.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _gather(one: Any, module: str | None, found: dict[str, str]) -> None:
    name = getattr(one, "__qualname__", repr(one))
    if name in found:
        return
    found[name] = ""  # so that what calls itself is met once
    found[name] = _text(one, name)
    for function in _functions(one):
        for key, value in _seen(function):
            if isinstance(value, FunctionType | type):
                if value.__module__ == module:
                    _gather(value, module, found)
            elif _is_plain(value):
                found.setdefault(key, f"{key} = {value!r}")


def _text(one: Any, name: str) -> str:
    try:
        return textwrap.dedent(inspect.getsource(one)).rstrip()
    except (OSError, TypeError) as error:
        methods = [_text(method, name) for method in _functions(one)] if isinstance(one, type) else []
        if methods:  # of a class in a notebook Python knows the methods, and not the lines
            bases = ", ".join(base.__name__ for base in one.__bases__)
            return "\n\n".join([f"class {name}({bases}):", *(textwrap.indent(method, "    ") for method in methods)])
        raise InputError(
            f"the source of {name} cannot be read, so a run of it cannot be kept: put the function into a file"
        ) from error


def _functions(one: Any) -> list[FunctionType]:
    """The function itself, or those of a class."""
    if isinstance(one, type):
        inner = [getattr(value, "__func__", value) for value in vars(one).values()]
        return [value for value in inner if isinstance(value, FunctionType)]
    return [one] if isinstance(one, FunctionType) else []


def _seen(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function sees from outside by name: globals, and what it closes over."""
    names = dict.fromkeys(_names(function.__code__))
    yield from ((name, function.__globals__[name]) for name in names if name in function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not bound yet
            continue


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _is_plain(value: Any) -> bool:
    """Whether a value is written in one way only: numbers, text, and lists and mappings of these."""
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True

"""Texts that say which space is meant: a registered name, or the place of code; and which of these a file may say."""

from __future__ import annotations

from foresee.errors import InputError, shown
from foresee.registry import tidy


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
    if not is_code(name):
        return
    refused = "is code, and no code is run because a file names it"
    if not name.isprintable():  # nobody's: a message is one line, and shows what is there
        raise InputError(f"{where}: its space {shown(name)} {refused}")
    raise InputError(f"{where}: its space {name} {refused}; if it is yours, say so: {say}")

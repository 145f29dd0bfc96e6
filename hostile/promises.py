"""Promises that many kinds of cases hold foresee to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from foresee.errors import ForeseeError


@contextmanager
def or_refused(what: str, by: type[Exception] = ForeseeError) -> Iterator[None]:
    """What is done in here is done, or refused by an error of ours in one line; any other error breaks the promise."""
    message = ""
    try:
        yield
    except AssertionError:
        raise
    except by as error:
        message = str(error).strip()
    except Exception as error:
        words = " ".join(str(error).split())[:200]
        raise AssertionError(f"{type(error).__name__} instead of {by.__name__}: {words}\n{what}") from error
    assert "\n" not in message, f"more than one line: {message[:250]!a}\n{what}"

"""Values on their way into the store and back: the same to the last bit, or refused with the reason.

What is kept as JSON: None, booleans, text, whole numbers of any size, floating-point numbers (infinities and NaN too, every
NaN being the one of `math.nan`), lists, and mappings whose keys are text. A tuple comes back as a list.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from foresee.errors import RunError

#: an identity of no more characters is kept as it is
LONGEST = 128


def pack(value: Any, what: str) -> str:
    """JSON text from which `unpack` gives the value back; `what` names it where that cannot be done.

    >>> unpack(pack({"lambda": [0.1, -0.0, float("inf")], "steps": 10**30}, "outcome"))
    {'lambda': [0.1, -0.0, inf], 'steps': 1000000000000000000000000000000}
    """
    try:
        return json.dumps(_plain(value, what))
    except RecursionError as error:
        raise RunError(f"{what}: nested too deeply to be stored") from error
    except (TypeError, ValueError) as error:  # a type without a form, a whole number with too many digits
        raise RunError(f"{what}: cannot be stored ({error})") from error


def unpack(text: str) -> Any:
    """The value that was packed."""
    return json.loads(text)


def _plain(value: Any, what: str) -> Any:
    """The value in lists and dicts; JSON would turn a key that is no text into another one without a word."""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise RunError(f"{what}: key {key!r} cannot be stored, keys must be text")
        return {key: _plain(part, what) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, what) for part in value]
    return value


def known_as(identity: str) -> str:
    """The identity of an architecture as a run keeps it: as it is, or where it is long a digest of it (of 128 bits).

    >>> known_as("|none~0|"), known_as("x" * 200), known_as(known_as("x" * 200)) == known_as("x" * 200)
    ('|none~0|', 'blake2b:a838c58b985551205df88cdbb16ec53d', True)
    """
    if len(identity) <= LONGEST:
        return identity
    whole = identity.encode("utf-8", "surrogatepass")  # half characters are a stranger's affair, and not the digest's
    return f"blake2b:{hashlib.blake2b(whole, digest_size=16).hexdigest()}"


def is_number(value: Any) -> bool:
    """Whether a value read from somewhere can be used as a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def number(value: float | None, what: str) -> float | None:
    """A number for a column of its own. SQLite would make None of NaN, so it is refused: say None, and give the reason.

    >>> number(float("nan"), "merit of candidate 3")
    Traceback (most recent call last):
    foresee.errors.RunError: merit of candidate 3: NaN cannot be stored; store None with a status and its reason
    """
    if value is not None and math.isnan(value):
        raise RunError(f"{what}: NaN cannot be stored; store None with a status and its reason")
    return value

"""How files of results are read: they may be anybody's, and whatever does not make sense is a `RunError` that names it."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foresee.errors import RunError, said

#: a file larger than this is not read
MOST_BYTES = 2**28


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Whatever does not make sense is said of the file."""
    try:
        yield
    except OSError as error:
        raise RunError(f"{path}: {error.strerror or error}") from error
    except RunError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, csv.Error) as error:
        raise RunError(f"{path}: not as foresee wrote it ({' '.join(said(error).split()):.300})") from error


def read_text(path: Path) -> str:
    """What stands in a file."""
    if path.stat().st_size > MOST_BYTES:
        raise RunError(f"{path}: larger than {MOST_BYTES >> 20} MiB, which no result of ours is")
    return path.read_text(encoding="utf-8")


def read_json(path: Path) -> Any:
    """Plain values from a JSON file."""
    return json.loads(read_text(path))


def number(value: Any, missing: float | None = None) -> float:
    """A finite number; None stands for `missing`, where it may."""
    if value is None and missing is not None:
        return missing
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(float(value)):
        raise ValueError(f"{value!r:.50} where a number is expected")
    return float(value)


def direction_of(text: Any) -> Any:
    """Higher or lower."""
    if text not in ("higher", "lower"):
        raise ValueError(f"{text!r:.50} where higher or lower is expected")
    return text

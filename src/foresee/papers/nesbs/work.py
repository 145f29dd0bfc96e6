"""Where the work of a chapter is kept, and how processes that share it wait for each other."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from foresee.papers.workshop import Workshop


def work_folder(workshop: Workshop, own: Mapping[str, Any]) -> Path:
    """Where work is kept: as said, beside the scores, or for this process only."""
    if own["work"]:
        return Path(own["work"])
    return Path(_for_now().name) if workshop.cache is None else workshop.cache.parent


@lru_cache(maxsize=1)
def _for_now() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="foresee-")


def digest(asked: Any) -> str:
    """Another one for other values.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1}), digest([1]) == digest([2])
    (True, False)
    """
    return hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()[:12]


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Only one process at a time in here, others wait: so several can work at one seed, and none trains what another does."""
    folder.mkdir(parents=True, exist_ok=True)
    held = os.open(folder, os.O_RDONLY)
    try:
        import fcntl

        fcntl.flock(held, fcntl.LOCK_EX)
    except ImportError:  # no such locks on this system: one process at a time, please
        pass
    try:
        yield
    finally:
        os.close(held)

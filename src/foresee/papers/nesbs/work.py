"""Where the work of a chapter is kept, how processes that share it wait for each other, and what to do without some of it."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from foresee.devices import usable
from foresee.errors import InputError
from foresee.papers.cells import Unavailable
from foresee.papers.trained import seeds
from foresee.papers.workshop import Workshop

T = TypeVar("T")


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


def can_be_made(name: str, seed: int, device: str) -> None:
    """Raise `Unavailable` where something that is not kept cannot be made here either: it wants another machine."""
    try:
        usable(device)
    except InputError as why:
        raise Unavailable(f"{name} of seed {seed} is not kept in the work folder, and {why}") from why


def by_seed(workshop: Workshop, look: Callable[[int], T]) -> dict[int, T]:
    """What comes of each seed. One that was made on another machine, and there not yet, is left out and said; of none that is
    left, `Unavailable`.
    """
    found, lost = dict[int, T](), list[str]()
    for seed in seeds(workshop):
        try:
            found[seed] = look(seed)
        except Unavailable as why:
            lost.append(str(why))
    if not found:
        raise Unavailable(lost[0])
    for one in lost:
        workshop.note(one)
    return found


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

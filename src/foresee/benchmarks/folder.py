"""Where a bench or a calibration keeps its results, and where its scores are cached."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from foresee.errors import RunError
from foresee.runs.folder import RunFolder
from foresee.scoring.cache import Cache

#: a cache that all benches of a user share
CACHE_VARIABLE = "FORESEE_CACHE"
CACHE = "scores.sqlite"


def hold(out: str | Path | None, stack: ExitStack) -> Path | None:
    """The folder to write to, held by this process until the stack is closed; None for none."""
    if out is None:
        return None
    folder = RunFolder(out)
    if folder.exists:
        raise RunError(f"{folder.path} holds a search: choose another --out")
    folder.hold()
    stack.callback(folder.release)
    return folder.path


def cache_for(cache: Cache | str | Path | None, folder: Path | None) -> Cache | str | Path | None:
    """The cache asked for, else the file that $FORESEE_CACHE names, else one in the folder; None for none."""
    if cache is not None:
        return cache
    shared = os.environ.get(CACHE_VARIABLE)
    return shared or (None if folder is None else folder / CACHE)

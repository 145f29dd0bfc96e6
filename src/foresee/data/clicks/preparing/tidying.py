"""The cache of prepared logs is bounded: what was not used for long goes first.

All prepared folders of the cache together take at most 20 GiB, or what `FORESEE_PREPARED_GB` says. Whenever a log has been
prepared there, folders are removed, those that were not used for the longest time first, until the rest fits; so are the
remains of preparations that were killed. Nothing goes that was used within a day, and nothing that is no prepared log.
Folders that were asked for by name (`--prepare FOLDER`) are the person's own, and never touched.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path

from foresee.data.clicks.preparing.storing import manifest_of
from foresee.errors import DataError, InputError

#: says how many GiB the cache may take
LIMIT = "FORESEE_PREPARED_GB"
USUAL = 20.0
#: seconds within which nothing goes: somebody may be about to read it
YOUNG = 24 * 3600.0
_NAME = re.compile(r"[0-9a-f]{16}(\.part)?")


def most() -> float:
    """How many bytes the cache may take."""
    said = os.environ.get(LIMIT, "")
    try:
        found = float(said) if said else USUAL
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise InputError(f"{LIMIT} = {said}: expected how many GiB prepared logs may take, such as 20")
    return found * 2**30


def used(folder: Path) -> None:
    """Remember that a folder was used now."""
    with suppress(OSError):  # one that may only be read stays as old as it is
        os.utime(folder)


def tidy(root: Path, limit: float, *, now: float | None = None) -> list[Path]:
    """Remove what is too much, the longest unused first; returns what went. What cannot be removed stays."""
    now = time.time() if now is None else now
    there: list[tuple[float, Path, int]] = []
    for path in root.iterdir() if root.is_dir() else ():
        if not _NAME.fullmatch(path.name) or path.is_symlink():
            continue
        with suppress(OSError, DataError):
            if path.suffix or manifest_of(path) is not None:
                size = sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
                there.append((path.stat().st_mtime, path, size))
    total, gone = sum(size for _, _, size in there), []
    for when, path, size in sorted(there):
        if now - when >= YOUNG and (total > limit or path.suffix):
            shutil.rmtree(path, ignore_errors=True)
            total, gone = total - size, [*gone, path]
    return gone

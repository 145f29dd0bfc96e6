"""A run's folder: `run.sqlite`, `settings.toml`, `best.json`, `front.json`, `report.html`, and one writer at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foresee.errors import BusyError, RunError
from foresee.runs.record import Record
from foresee.runs.store import Store
from foresee.runs.toml import dumps


class RunFolder:
    """A folder held by this process while it writes.

    The hold is a lock on the folder itself, which the system drops when the process ends however it ends: no lock file
    is ever left behind.
    """

    STORE, SETTINGS, BEST, REPORT = "run.sqlite", "settings.toml", "best.json", "report.html"
    #: where several objectives were followed
    FRONT = "front.json"

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock: int | None = None

    @property
    def store_path(self) -> Path:
        """Where the store is."""
        return self.path / self.STORE

    @property
    def exists(self) -> bool:
        """Whether a run is in the folder."""
        return is_there(self.store_path)

    def hold(self) -> None:
        """Make the folder if needed and become its one writer."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise RunError(f"{self.path}: cannot be used as a run folder ({error.strerror or error})") from error
        try:
            import fcntl

            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # no such locks on this system: SQLite's own are the only guard
            pass
        except OSError as error:
            self.release()
            raise BusyError(
                f"{self.path}: another process is at work in this folder; wait for it or choose another --out"
            ) from error

    def release(self) -> None:
        """Let others write."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def write_settings(self, settings: Mapping[str, Any]) -> Path:
        """The settings as TOML, for people and for `--settings`."""
        return self._write(self.SETTINGS, dumps(settings))

    def write_best(self, best: Mapping[str, Any]) -> Path:
        """The best candidate as JSON."""
        return self._write(self.BEST, json.dumps(best, indent=2) + "\n")

    def write_front(self, front: Mapping[str, Any]) -> Path:
        """The candidates that no other beats as JSON."""
        return self._write(self.FRONT, json.dumps(front, indent=2) + "\n")

    def _write(self, name: str, text: str) -> Path:
        return write_whole(self.path / name, text)


def is_there(path: Path) -> bool:
    """Whether there is a file or folder of this name; a name that cannot be one is said."""
    try:
        return path.exists()
    except (OSError, ValueError) as error:
        raise RunError(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def write_whole(path: Path, text: str) -> Path:
    """Write a file so that a reader sees the old one or the new one, never half.

    Only plain files are written: what is a link, a device or a pipe is neither followed nor replaced.
    """
    fresh = path.with_name(path.name + ".new")
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            kind = "a link" if path.is_symlink() else "a folder" if path.is_dir() else "no plain file"
            raise RunError(f"{path}: is {kind}, which is neither followed nor replaced; name a plain file")
        fresh.unlink(missing_ok=True)  # left by a killed process, or put there by somebody: never written through
        with fresh.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except (OSError, ValueError) as error:
        raise RunError(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error})") from error
    return path


def read(path: str | Path) -> Record:
    """The record of a run folder (or of a store file), read without changing anything."""
    path = Path(path)
    store_path = path / RunFolder.STORE if is_there(path) and path.is_dir() else path
    if not is_there(store_path):
        raise RunError(f"{path}: there is no run here ({RunFolder.STORE} is missing)")
    with Store.open(store_path) as store:
        return store.record()

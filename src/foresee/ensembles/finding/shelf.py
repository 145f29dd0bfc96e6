"""Where the stages of a run are kept: a folder of whole files, or nowhere."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee.errors import RunError
from foresee.runs.folder import is_there, write_whole
from foresee.training.keeping import read_plain


class Shelf:
    """A folder in which each file appears whole or not at all; without a folder nothing is kept and nothing is found.

    >>> shelf = Shelf(None)
    >>> shelf.write("posterior.json", {"a": 1}), shelf.read("posterior.json"), shelf.path("members")
    (None, None, None)
    """

    def __init__(self, folder: str | Path | None) -> None:
        self.folder = None if folder is None else Path(folder)

    def path(self, name: str) -> Path | None:
        """Where something of this name is kept."""
        return None if self.folder is None else self.folder / name

    def read(self, name: str) -> dict[str, Any] | None:
        """The object in a JSON file; None where it is not there yet."""
        place = self.path(name)
        return None if place is None or not is_there(place) else read_plain(place)

    def write(self, name: str, plain: Mapping[str, Any]) -> None:
        """Keep an object."""
        place = self.path(name)
        if place is not None:
            self._made()
            write_whole(place, json.dumps(plain, indent=1, allow_nan=False) + "\n")

    def write_arrays(self, name: str, **arrays: NDArray[Any]) -> None:
        """Keep arrays as an .npz file, compressed; equal arrays are equal files."""
        place = self.path(name)
        if place is None:
            return
        self._made()
        content = io.BytesIO()
        np.savez_compressed(content, allow_pickle=False, **arrays)
        fresh = place.with_name(place.name + ".new")
        try:
            fresh.unlink(missing_ok=True)
            with fresh.open("xb") as file:
                file.write(content.getvalue())
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, place)
        except OSError as error:
            raise RunError(f"{place}: cannot be written ({error.strerror or error})") from error

    def read_arrays(self, name: str) -> dict[str, NDArray[Any]] | None:
        """The arrays of an .npz file; None where it is not there."""
        place = self.path(name)
        if place is None or not is_there(place):
            return None
        try:
            with np.load(place, allow_pickle=False) as held:
                return {key: held[key] for key in held.files}
        except Exception as error:  # parsers of damaged files raise nearly anything
            raise RunError(f"{place}: cannot be read as arrays ({error})") from error

    def _made(self) -> None:
        assert self.folder is not None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{self.folder}: cannot be used as a folder ({error.strerror or error})") from error

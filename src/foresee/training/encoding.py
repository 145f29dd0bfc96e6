"""The preprocessing of a click log, kept beside what was searched, trained or exported on it.

A network that was found on a click log knows categories by numbers. What gave them their numbers lies in the folder
`preprocessing` of the run, of the training and of the export, so that other rows are encoded alike, to the last bit.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foresee.data.loading import reading
from foresee.errors import RunError, SettingsMismatchError

if TYPE_CHECKING:
    from foresee.data.clicks.preprocessing import Preprocessing

#: what the folder is called, wherever it lies
FOLDER = "preprocessing"


def encoding_of(data: Any) -> Preprocessing | None:
    """What encoded the rows of a data set, or of what it is a part of; None where nothing did.

    >>> from foresee.data import Synthetic
    >>> encoding_of(Synthetic()) is None
    True
    """
    while data is not None:
        found = getattr(data, "preprocessing", None)
        if found is not None:
            return found  # type: ignore[no-any-return]
        data = getattr(data, "source", None)
    return None


def keep(preprocessing: Preprocessing | None, folder: str | Path) -> None:
    """Put it into `folder/preprocessing`, whole or not at all; what is there already has to be the same."""
    if preprocessing is None:
        return
    place = Path(folder) / FOLDER
    if place.is_dir():
        there = read(place)
        if there.fingerprint != preprocessing.fingerprint:
            raise SettingsMismatchError(
                f"{place}: another preprocessing is kept there (fingerprint {there.fingerprint}, here "
                f"{preprocessing.fingerprint}); choose another folder"
            )
        return
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{FOLDER}.", dir=place.parent))
    except OSError as error:
        raise RunError(f"{place}: cannot be made ({error.strerror or error})") from error
    try:
        preprocessing.save(made)
        made.chmod(place.parent.stat().st_mode & 0o777)  # temporary folders are their maker's alone
        os.replace(made, place)
    except OSError as error:
        raise RunError(f"{place}: cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def read(folder: str | Path) -> Preprocessing:
    """What is kept in a folder, checked."""
    from foresee.data.clicks.preprocessing import Preprocessing

    with reading(Path(folder), "a preprocessing"):
        return Preprocessing.load(Path(folder))


def beside(path: Any) -> Preprocessing | None:
    """What lies beside a `best.json`, in the folder of a run or of a training; None where nothing does, or it is no path."""
    if not isinstance(path, str | os.PathLike):
        return None
    given = Path(path)
    try:
        folder = (given if given.is_dir() else given.parent) / FOLDER
        return read(folder) if folder.is_dir() else None
    except OSError:  # of a text that is no path
        return None


def how_to_read(schema: Any = None, preprocessing: Preprocessing | None = None) -> dict[str, Any]:
    """What `data.load` is told of a file with rows: the preprocessing that is at hand, or else the schema.

    A schema that is said beside a preprocessing has to be the one it was fitted by.
    """
    if preprocessing is None:
        return {} if schema is None else {"schema": schema}
    if schema is not None:
        from foresee.data.clicks.schema import schema as named

        if named(schema).fingerprint != preprocessing.schema.fingerprint:
            raise SettingsMismatchError(
                f"schema {schema}: the network was found on rows that were encoded by another one "
                f"({preprocessing.schema.name or 'a schema of your own'}); leave the schema out, or search again"
            )
    return {"preprocessing": preprocessing}

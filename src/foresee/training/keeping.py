"""Where a training is kept: in a folder that survives anything, or in memory only.

`training.json` (settings, data, history), `last.*` (all that is needed to go on), `best.*` (the weights of the best epoch, by
their names in the network), `architecture.json` where the network came from a space, `preprocessing` where it learnt from a
click log, `report.html`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from foresee.errors import RunError, SettingsMismatchError
from foresee.runs.folder import RunFolder, is_there, write_whole
from foresee.training import checkpoints, encoding
from foresee.training.recipe import Recipe

if TYPE_CHECKING:
    from foresee.data.clicks.preprocessing import Preprocessing

TRAINING, ARCHITECTURE, REPORT = "training.json", "architecture.json", "report.html"
#: stored settings that may differ when a training goes on: they change where it runs, not what becomes of it
MAY_DIFFER = ("device",)


class Memory:
    """Nothing outlives the process: the best weights only."""

    folder: Path | None = None
    where = "nothing was kept on disk (out=... keeps checkpoints)"

    def __init__(self) -> None:
        self._best: dict[str, Tensor] = {}

    def begin(self, asked: Mapping[str, Any]) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Always from the start."""
        return None

    def save_last(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Nothing to do."""

    def save_best(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """A copy of the weights."""
        self._best = {key: one.detach().clone() for key, one in tensors.items()}

    def best(self) -> dict[str, Tensor]:
        """The best weights so far."""
        return self._best

    def write(self, name: str, plain: Mapping[str, Any]) -> None:
        """Nothing to do."""

    def keep(self, preprocessing: Preprocessing | None) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


class Folder(Memory):
    """A folder, held by this process while it writes."""

    def __init__(self, path: str | Path, *, resume: bool) -> None:
        super().__init__()
        self.folder = Path(path)
        self._path, self._resume = self.folder, resume
        self._held = RunFolder(path)

    @property
    def where(self) -> str:  # type: ignore[override]
        """Which checkpoint is the last good one."""
        if not checkpoints.exists(self._path, "last"):
            return f"there is no checkpoint in {self._path} yet"
        step = checkpoints.read_facts(self._path, "last").get("step")
        return f"the last good checkpoint is {self._path / 'last.safetensors'} (step {step})"

    def begin(self, asked: Mapping[str, Any]) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Take the folder; where a training is to go on, what it was."""
        if self._held.exists:
            raise RunError(f"{self._path}: holds a search; choose another --out")
        there = is_there(self._path / TRAINING)
        if there and not self._resume:
            raise RunError(f"{self._path}: a training is in this folder; resume it (--resume), or choose another --out")
        self._held.hold()
        if not there:
            return None
        stored = read_plain(self._path / TRAINING)
        before = stored.get("asked")
        if not isinstance(before, dict):
            raise RunError(f"{self._path / TRAINING}: does not say what was asked; it is not the JSON of a training")
        if isinstance(
            before.get("recipe"), dict
        ):  # a recipe of before some values were there: as if they were the usual
            before = {**before, "recipe": {**Recipe().to_json(), **before["recipe"]}}
        different = differences(asked, before)
        if different:
            raise SettingsMismatchError(f"{self._path}: another training is in this folder: {'; '.join(different)}")
        return checkpoints.read(self._path, "last") if checkpoints.exists(self._path, "last") else None

    def save_last(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """All that is needed to go on."""
        checkpoints.write(self._path, "last", tensors, facts)

    def save_best(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """The weights of the best epoch so far."""
        checkpoints.write(self._path, "best", tensors, facts)

    def best(self) -> dict[str, Tensor]:
        """The best weights so far."""
        return checkpoints.read(self._path, "best")[0]

    def write(self, name: str, plain: Mapping[str, Any]) -> None:
        """A JSON file, whole."""
        write_whole(self._path / name, json.dumps(plain, indent=1, allow_nan=False) + "\n")

    def keep(self, preprocessing: Preprocessing | None) -> None:
        """What encoded the rows of a click log, where there is such a thing."""
        encoding.keep(preprocessing, self._path)

    def close(self) -> None:
        """Let others write."""
        self._held.release()


def read_plain(path: Path) -> dict[str, Any]:
    """A JSON object of ours."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path}: not a JSON file ({error})") from error
    if not isinstance(plain, dict):
        raise RunError(f"{path}: expected an object, got {type(plain).__name__}")
    return plain


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any], prefix: str = "") -> list[str]:
    """What differs from a stored training, one line each.

    >>> differences({"recipe": {"lr": 0.1}, "seed": 1}, {"recipe": {"lr": 0.2}, "seed": 1})
    ['recipe.lr: 0.1 here, 0.2 in the run']
    """
    found = []
    for key in [*ours, *(key for key in theirs if key not in ours)]:
        mine, other = ours.get(key), theirs.get(key)
        if key in MAY_DIFFER or mine == other:
            continue
        if isinstance(mine, Mapping) and isinstance(other, Mapping):
            found += differences(mine, other, f"{prefix}{key}.")
        else:
            found.append(f"{prefix}{key}: {mine} here, {other} in the run")
    return found

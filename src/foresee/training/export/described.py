"""What an export says of itself: `model.json`, written and read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foresee.data.normalising import Statistics
from foresee.errors import InputError, RunError
from foresee.task import Task

FILE = "model.json"
#: of the layout below; a reader refuses what it does not know
FORMAT = 1


@dataclass(frozen=True)
class Written:
    """One file of an export, and how far its outputs were from the network's when it was read again."""

    file: str
    sha256: str
    #: largest difference of any output, and what was allowed, both in units of the outputs
    difference: float
    tolerance: float
    #: samples of the batches that were compared
    batches: tuple[int, ...] = ()
    #: who read the file again
    by: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "file": self.file,
            "sha256": self.sha256,
            "largest_difference": self.difference,
            "tolerance": self.tolerance,
            "batches_compared": list(self.batches),
            "read_by": self.by,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Written:
        """Inverse of `to_json`."""
        difference, tolerance = float(plain["largest_difference"]), float(plain["tolerance"])
        batches = tuple(map(int, plain["batches_compared"]))
        return cls(str(plain["file"]), str(plain["sha256"]), difference, tolerance, batches, str(plain["read_by"]))


@dataclass(frozen=True)
class Description:
    """All but the weights: what goes in and comes out, and how the network is built again."""

    #: None where the network was handed over with an example instead
    task: Task | None
    #: shapes of one sample of each input, and their types
    inputs: tuple[tuple[tuple[int, ...], str], ...]
    #: names of the inputs, where the network is called by names
    names: tuple[str, ...] | None = None
    classes: tuple[str, ...] = ()
    #: what inputs have to be normalised by; None where nobody knows
    statistics: Statistics | None = None
    #: whether the files that are programs normalise by themselves and take pixels of 0 to 1
    pixels: bool = False
    #: space, settings and text of the architecture; None where the network is code of somebody's own
    architecture: Mapping[str, Any] | None = None
    #: of several networks that answer together: what is averaged, and the architecture of each; None of a single one
    ensemble: Mapping[str, Any] | None = None
    #: fingerprint of what encodes the rows of a click log, which lies in `preprocessing`; None where there is none
    preprocessing: str | None = None
    files: Mapping[str, Written] = field(default_factory=dict)
    made_by: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        statistics = self.statistics
        return {
            "format": FORMAT,
            "task": None if self.task is None else self.task.to_json(),
            "inputs": [{"shape": list(shape), "type": kind} for shape, kind in self.inputs],
            "input_names": None if self.names is None else list(self.names),
            "classes": list(self.classes),
            "normalisation": None
            if statistics is None
            else {"mean": list(statistics.mean), "std": list(statistics.std)},
            "programs_take": "pixels from 0 to 1" if self.pixels else "normalised inputs",
            "architecture": None if self.architecture is None else dict(self.architecture),
            **({} if self.ensemble is None else {"ensemble": dict(self.ensemble)}),
            **({} if self.preprocessing is None else {"preprocessing": self.preprocessing}),
            "files": {name: one.to_json() for name, one in self.files.items()},
            "made_by": dict(self.made_by),
        }

    @classmethod
    def from_json(cls, plain: Any, where: str) -> Description:
        """Inverse of `to_json`, checked at the door."""
        if not isinstance(plain, dict) or plain.get("format") != FORMAT:
            found = plain.get("format") if isinstance(plain, dict) else type(plain).__name__
            raise RunError(f"{where}: not an export that can be read (format {found!r}, expected {FORMAT})")
        try:
            normal, names = plain["normalisation"], plain["input_names"]
            return cls(
                task=None if plain["task"] is None else Task.from_json(plain["task"]),
                inputs=tuple((tuple(map(int, one["shape"])), str(one["type"])) for one in plain["inputs"]),
                names=None if names is None else tuple(map(str, names)),
                classes=tuple(map(str, plain["classes"])),
                statistics=None
                if normal is None
                else Statistics(tuple(map(float, normal["mean"])), tuple(map(float, normal["std"]))),
                pixels=plain["programs_take"] != "normalised inputs",
                architecture=None if plain["architecture"] is None else dict(plain["architecture"]),
                ensemble=None if plain.get("ensemble") is None else dict(plain["ensemble"]),
                preprocessing=None if plain.get("preprocessing") is None else str(plain["preprocessing"]),
                files={str(name): Written.from_json(one) for name, one in plain["files"].items()},
                made_by={str(key): str(value) for key, value in plain["made_by"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            raise RunError(f"{where}: damaged ({type(error).__name__}: {error})") from error


def read(folder: str | Path) -> Description:
    """What the export in a folder says of itself."""
    place = Path(folder) / FILE
    try:
        plain = json.loads(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunError(f"{folder}: no export here ({FILE}: {error.strerror or error})") from error
    except (ValueError, RecursionError) as error:
        raise RunError(f"{place}: not a JSON file ({error})") from error
    return Description.from_json(plain, str(place))

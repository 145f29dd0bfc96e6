"""How an architecture travels: architecture, JSON and network are three forms of one thing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from foresee.errors import InputError, shown
from foresee.grid import shortened
from foresee.spaces.base import Space
from foresee.spaces.find import Said, check_named, get, say_space
from foresee.task import Task


@dataclass(frozen=True, repr=False)
class Candidate:
    """An architecture with its space and task: what a run finds, and what builds a network anywhere.

    `details` holds what is known about it (scores, counts, id, seed); it does not enter equality.
    """

    space: Space[Any]
    architecture: Any
    task: Task
    details: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        return f"<Candidate of {self.space.name}: {shortened(str(self.architecture))}>"

    def build(self, seed: int | None = None) -> nn.Module:
        """The network, with the weights it had when it was scored (or those of `seed`); global random state is kept."""
        chosen = self.details.get("weights_seed") if seed is None else seed
        with torch.random.fork_rng(devices=[]):
            if chosen is not None:
                torch.manual_seed(chosen)
            return self.space.build(self.architecture, self.task)

    def to_json(self) -> dict[str, Any]:
        """Plain form; `Candidate.from_json` and `load` read it back."""
        return {**self.space.to_json(self.architecture, self.task), **self.details}

    @classmethod
    def from_json(cls, plain: Any, *, space: Said | None = None, where: str = "candidate") -> Candidate:
        """Inverse of `to_json`, checked at the door.

        Where `plain` names a registered space, nothing else is needed. Code is never run because a file names it: hand in
        `space` (a function `make_net(pick)`, a space, or `module:function`) for an own one.
        """
        if not isinstance(plain, dict):
            raise InputError(f"{where}: expected an object, got {type(plain).__name__}")
        missing = {"space", "architecture", "task"} - plain.keys()
        if missing:
            raise InputError(f"{where}: {', '.join(sorted(missing))} missing")
        settings = plain.get("settings", {})
        if not isinstance(settings, dict):
            raise InputError(f"{where}: settings must be an object, got {shown(settings)}")
        if space is None:
            space = str(plain["space"])
            said = say_space(space)
            check_named(where, space, f"{said}, or the function itself" if '"' in said else said)
        found = get(space, **settings)
        details = {
            key: value for key, value in plain.items() if key not in {"space", "settings", "architecture", "task"}
        }
        return cls(found, found.parse(str(plain["architecture"])), Task.from_json(plain["task"]), details)

    @classmethod
    def load(cls, path: str | Path, *, space: Said | None = None) -> Candidate:
        """Read a `best.json` (or any file `to_json` wrote); `space` as in `from_json`."""
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}: not a JSON file ({error})") from error
        return cls.from_json(plain, space=space, where=str(path))


def build(
    source: str | Path | dict[str, Any] | Candidate, *, seed: int | None = None, space: Said | None = None
) -> nn.Module:
    """The network of a `best.json`, of the folder of a run or of a training, of parsed JSON, or of a candidate.

    `space` names the code of an own space (`space=make_net`): a file is not followed to code.
    """
    if isinstance(source, Candidate):
        return source.build(seed)
    if isinstance(source, dict):
        return Candidate.from_json(source, space=space).build(seed)
    return Candidate.load(in_folder(Path(source)), space=space).build(seed)


def in_folder(path: Path) -> Path:
    """The file that names an architecture: the path itself, or in the folder of a run or of a training that file of it."""
    if not path.is_dir():
        return path
    own = path / "architecture.json"  # there, `best.json` tells of weights
    return own if own.is_file() else path / "best.json"

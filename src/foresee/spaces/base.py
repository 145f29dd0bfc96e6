"""What a space is, and how an architecture travels.

The life of an architecture: a space *samples* or *mutates* it, its text is stored, its *identity* decides whether it is
new, its *counts* decide whether it may be scored, and `build` turns it into a network for a task. Architecture, JSON and
network are three forms of one thing: `to_json`, `from_json`, `build`.
"""

from __future__ import annotations

import json
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from foresee.errors import InputError, UnsupportedError
from foresee.registry import Registry, check_settings
from foresee.task import Task

if TYPE_CHECKING:
    from torch import nn

    from foresee.spaces.one_shot import OneShot

A = TypeVar("A")


@dataclass(frozen=True)
class Counts:
    """What a network costs before it runs: exact parameters and multiply-accumulates of one sample.

    MACs count convolutions, linear layers and matrix products only; FLOPs are two per MAC.
    """

    params: int
    macs: int

    @property
    def flops(self) -> int:
        """Floating-point operations: two per MAC."""
        return 2 * self.macs

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.params + other.params, self.macs + other.macs)


@dataclass(frozen=True)
class Graph:
    """A cell as a picture: labelled nodes in topological order, and labelled edges between them."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[int, int, str], ...]
    title: str = ""


class Space(ABC, Generic[A]):
    """A set of architectures of one kind.

    `A` is the architecture: an immutable, hashable value whose `str` is the benchmark's own text form. Subclasses say
    how to sample, change, read and build one; everything else has a default. All randomness comes from the `rng` handed
    in. Sampling and mutating take at most a millisecond, counting at most five.
    """

    #: registered name; settings that differ from the defaults are appended by `reference`
    name: ClassVar[str]
    #: one line for listings
    summary: ClassVar[str] = ""
    #: paper or benchmark the space comes from
    source: ClassVar[str] = ""

    # -- the set ------------------------------------------------------------------------------------------------------
    @abstractmethod
    def sample(self, rng: random.Random) -> A:
        """Draw an architecture, uniformly over the choices unless the class says otherwise."""

    @abstractmethod
    def mutate(self, architecture: A, rng: random.Random) -> A:
        """A neighbour: differs in one choice, always inside the space."""

    @abstractmethod
    def parse(self, text: str) -> A:
        """Inverse of `str`; an `InputError` says which part is wrong."""

    @property
    def size(self) -> int | None:
        """How many architectures there are (by text), or None where that is not known."""
        return None

    def enumerate(self) -> Iterator[A]:
        """Every architecture once, in a fixed order, where the space is finite and small enough to list."""
        raise InputError(f"space {self.name} is not enumerable")

    @property
    def enumerable(self) -> bool:
        """Whether `enumerate` can be used."""
        return type(self).enumerate is not Space.enumerate

    def crossover(self, first: A, second: A, rng: random.Random) -> A:
        """A child of two parents, where that is natural; by default a mutation of either."""
        return self.mutate(rng.choice([first, second]), rng)

    # -- one architecture -----------------------------------------------------------------------------------------------
    def canonical(self, architecture: A) -> str:
        """Identity: equal for architectures that compute the same function. By default the text."""
        return str(architecture)

    @abstractmethod
    def build(self, architecture: A, task: Task) -> nn.Module:
        """The network for `task`, initialised from torch's global random state."""

    def counts(self, architecture: A, task: Task) -> Counts:
        """Parameters and MACs. By default measured on the meta device, which is slow; spaces give formulas."""
        from foresee.spaces.counting import measure

        return measure(lambda: self.build(architecture, task), task)

    def graph(self, architecture: A) -> list[Graph]:
        """The cells of the architecture for drawing; empty where there is no picture."""
        return []

    @property
    def named(self) -> Mapping[str, A]:
        """Published architectures by name."""
        return {}

    def unused_parameters(self, architecture: A) -> frozenset[str]:
        """Modules or parameters, by name in the built network, that cannot reach its output and so get no gradient."""
        return frozenset()

    def one_shot(self, task: Task, **options: Any) -> OneShot[A]:
        """All choices of the space in one module with one set of weights, where weights can be shared."""
        raise UnsupportedError(f"space {self.name} has no one-shot network")

    # -- the space itself -----------------------------------------------------------------------------------------------
    def settings(self) -> dict[str, Any]:
        """Settings that differ from the class's defaults, as plain JSON values."""
        return {}

    @property
    def reference(self) -> str:
        """Text from which `get` makes this space again, in any process: a registered name, or `module:function`."""
        return self.name

    def to_json(self, architecture: A, task: Task) -> dict[str, Any]:
        """Plain form of an architecture with all that is needed to build it."""
        return {
            "space": self.reference,
            "settings": self.settings(),
            "architecture": str(architecture),
            "task": task.to_json(),
        }


spaces: Registry[type[Space[Any]]] = Registry("space", group="foresee.spaces", home="foresee.spaces")


@dataclass(frozen=True)
class Candidate:
    """An architecture with its space and task: what a run finds, and what builds a network anywhere.

    `details` holds what is known about it (scores, counts, id, seed); it does not enter equality.
    """

    space: Space[Any]
    architecture: Any
    task: Task
    details: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def build(self, seed: int | None = None) -> nn.Module:
        """The network, with the weights it had when it was scored (or those of `seed`); global random state is kept."""
        import torch

        chosen = self.details.get("weights_seed") if seed is None else seed
        with torch.random.fork_rng(devices=[]):
            if chosen is not None:
                torch.manual_seed(chosen)
            return self.space.build(self.architecture, self.task)

    def to_json(self) -> dict[str, Any]:
        """Plain form; `Candidate.from_json` and `load` read it back."""
        return {**self.space.to_json(self.architecture, self.task), **self.details}

    @classmethod
    def from_json(cls, plain: Any, *, space: Space[Any] | None = None) -> Candidate:
        """Inverse of `to_json`, checked at the door; `space` saves looking it up by its reference."""
        if not isinstance(plain, dict):
            raise InputError(f"candidate: expected an object, got {type(plain).__name__}")
        missing = {"space", "architecture", "task"} - plain.keys()
        if missing:
            raise InputError(f"candidate: {', '.join(sorted(missing))} missing")
        settings = plain.get("settings", {})
        if not isinstance(settings, dict):
            raise InputError(f"candidate: settings must be an object, got {settings!r}")
        space = space or get(str(plain["space"]), **settings)
        details = {
            key: value for key, value in plain.items() if key not in {"space", "settings", "architecture", "task"}
        }
        return cls(space, space.parse(str(plain["architecture"])), Task.from_json(plain["task"]), details)

    @classmethod
    def load(cls, path: str | Path) -> Candidate:
        """Read a `best.json` (or any file `to_json` wrote)."""
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from error
        except ValueError as error:
            raise InputError(f"{path}: not a JSON file ({error})") from error
        return cls.from_json(plain)


def get(reference: str | Space[Any], **settings: Any) -> Space[Any]:
    """A space by registered name (`nasbench201`), by `module:function` or `file.py:function` (an own space), or itself."""
    if isinstance(reference, Space):
        return reference
    if ":" in reference:
        from foresee.spaces.own import load

        return load(reference, **settings)
    kind = spaces[reference]
    check_settings(f"space {reference}", kind, settings)
    try:
        return kind(**settings)
    except TypeError as error:
        raise InputError(f"space {reference}: {error}") from error


def build(source: str | Path | dict[str, Any] | Candidate, *, seed: int | None = None) -> nn.Module:
    """The network of a `best.json`, of a run folder that holds one, of its parsed JSON, or of a candidate."""
    if isinstance(source, Candidate):
        return source.build(seed)
    if isinstance(source, dict):
        return Candidate.from_json(source).build(seed)
    path = Path(source)
    return Candidate.load(path / "best.json" if path.is_dir() else path).build(seed)

"""What a space is.

The life of an architecture: a space *samples* or *mutates* it, its text is stored, its *identity* decides whether it is
new, its *counts* decide whether it may be scored, and `build` turns it into a network for a task. `find` gives a space by
its name, `candidate` is an architecture that travels.
"""

from __future__ import annotations

import inspect
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar

from torch import nn

from foresee.errors import InputError, UnsupportedError
from foresee.registry import Registry
from foresee.spaces.counting import Counts, measure
from foresee.spaces.one_shot import Choice, OneShot
from foresee.task import Task

A = TypeVar("A")


@dataclass(frozen=True)
class Graph:
    """A cell as a picture: labelled nodes in topological order, and labelled edges between them.

    Args:
        nodes: their labels.
        edges: from node to node, and what is done on the way ("" where nothing is said).
        title: what is shown.
        kinds: what each node does ("" for nothing), where nodes of different labels do the same; colours go by it.
        places: the column and the row of each node, where streams run side by side; by default all stand in one row.
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[int, int, str], ...]
    title: str = ""
    kinds: tuple[str, ...] = ()
    places: tuple[tuple[int, int], ...] = ()


class Space(ABC, Generic[A]):
    """A set of architectures of one kind.

    `A` is the architecture: an immutable, hashable value whose `str` is the benchmark's own text form. Subclasses say
    how to sample, change, read and build one; everything else has a default. All randomness comes from the `rng` handed
    in. Sampling and mutating take at most a millisecond, counting at most five.

    The settings of a space are the keyword-only arguments of its constructor, each kept as an attribute of its name: so
    `get(space.reference, **space.settings())` is the space again, in any process.
    """

    #: registered name; settings that differ from the defaults are appended by `reference`
    name: ClassVar[str]
    #: one line for listings
    summary: ClassVar[str] = ""
    #: paper or benchmark the space comes from
    source: ClassVar[str] = ""
    #: why there is no one-shot network, where more can be said than that
    no_one_shot: ClassVar[str] = ""
    #: the network that published searches of the space begin with; None where they begin with random ones
    start: A | None = None
    #: draws that the space itself turned down and made again, so far
    rejected: int = 0
    #: the source that a run keeps of a space whose reference leads nobody to its code; "" where it does
    code: str = ""

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

    # -- choices, where the set is their product ------------------------------------------------------------------------
    @property
    def choices(self) -> tuple[Choice, ...]:
        """What is decided in every architecture, each choice whatever the others are; empty where a set is not made so."""
        return ()

    def assemble(self, picks: Sequence[int]) -> A:
        """The architecture of one option (by its place) for each of the `choices`."""
        raise UnsupportedError(f"space {self.name} is not made of independent choices")

    def picks(self, architecture: A) -> tuple[int | None, ...]:
        """Inverse of `assemble`; None for a choice that does not matter in this architecture."""
        raise UnsupportedError(f"space {self.name} is not made of independent choices")

    # -- one architecture -----------------------------------------------------------------------------------------------
    def canonical(self, architecture: A) -> str:
        """Identity: equal for architectures that compute the same function. By default the text."""
        return str(architecture)

    @abstractmethod
    def build(self, architecture: A, task: Task) -> nn.Module:
        """The network for `task`, initialised from torch's global random state."""

    def counts(self, architecture: A, task: Task) -> Counts:
        """Parameters and MACs. By default measured on the meta device, which is slow; spaces give formulas."""
        return measure(lambda: self.build(architecture, task), task)

    def usual_limits(self, task: Task, samples: int) -> dict[str, dict[str, float]]:
        """Limits of a search where nobody asks for any, with so many samples to learn from: none.

        In the form of settings, `{"params": {"max": 400000}}`.
        """
        return {}

    def graph(self, architecture: A) -> list[Graph]:
        """The cells of the architecture for drawing; empty where there is no picture."""
        return []

    def find(self, said: str) -> A:
        """The architecture that is called so (one of `named`), or that has this text.

        >>> from foresee.spaces import get
        >>> str(get("nasbench101").find("ResNet")) == str(get("nasbench101").named["ResNet"])
        True
        """
        known = self.named
        return known[said] if said in known else self.parse(said)

    @property
    def named(self) -> Mapping[str, A]:
        """Published architectures by name."""
        return {}

    def unused_parameters(self, architecture: A) -> frozenset[str]:
        """Modules or parameters, by name in the built network, that cannot reach its output and so get no gradient."""
        return frozenset()

    def one_shot(self, task: Task, **options: Any) -> OneShot[A]:
        """All choices of the space in one module with one set of weights, where weights can be shared."""
        why = f": {self.no_one_shot}" if self.no_one_shot else ""
        raise UnsupportedError(f"space {self.name} has no one-shot network{why}")

    # -- the space itself -----------------------------------------------------------------------------------------------
    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """The settings of the space with their defaults: the keyword-only arguments of its constructor."""
        return dict(_keywords(cls))

    def settings(self) -> dict[str, Any]:
        """Settings that differ from the defaults, as plain JSON values; each is an attribute of its own name."""
        found = {}
        for name, default in self.defaults().items():
            if not hasattr(self, name):
                raise InputError(
                    f"space {self.name}: setting {name} is not kept as `self.{name}`, so the space cannot be made again"
                )
            value = _plain(getattr(self, name))
            if value != _plain(default):
                found[name] = value
        return found

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


@cache
def _keywords(kind: type[Space[Any]]) -> Mapping[str, Any]:
    """Keyword-only arguments of a constructor; where it hands on others by `**`, those of the next class too."""
    found: dict[str, Any] = {}
    for owner in kind.__mro__:
        if "__init__" not in vars(owner):
            continue
        taken = inspect.signature(vars(owner)["__init__"]).parameters.values()
        found = {one.name: one.default for one in taken if one.kind is one.KEYWORD_ONLY} | found
        if not any(one.kind is one.VAR_KEYWORD for one in taken):
            break
    return found


def _plain(value: Any) -> Any:
    """A setting as JSON has it."""
    if isinstance(value, Task):
        return value.to_json()
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value


spaces: Registry[type[Space[Any]]] = Registry("space", group="foresee.spaces", home="foresee.spaces")

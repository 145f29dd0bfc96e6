"""Multi-layer perceptrons: hidden widths from a grid, for inputs of any shape.

The default is the space of SiGeo's first experiment: two layers, that is one hidden layer, of 2, 4, ..., 48 units.

>>> space = MLP()
>>> str(space.parse("mlp(24)")), space.size
('mlp(24)', 24)
>>> space.counts(space.parse("mlp(24)"), Task((1, 28, 28), 10))
Counts(params=19090, macs=19056)
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from foresee.errors import InputError, shown
from foresee.spaces import counting
from foresee.spaces.base import Graph, Space, spaces
from foresee.spaces.counting import Counts
from foresee.task import Task

WIDTHS = tuple(range(2, 49, 2))
DEPTHS = (1,)


@dataclass(frozen=True)
class Architecture:
    """Widths of the hidden layers, from the input to the output."""

    widths: tuple[int, ...]

    def __post_init__(self) -> None:
        if any(width < 1 for width in self.widths):
            raise InputError(f"{self}: every hidden layer needs at least 1 unit")

    def __str__(self) -> str:
        return f"mlp({','.join(map(str, self.widths))})"

    @classmethod
    def parse(cls, text: str) -> Architecture:
        """Inverse of `str`."""
        match = re.fullmatch(r"\s*mlp\((\d{1,9}(?:,\d{1,9})*)?\)\s*", text)
        if not match:
            raise InputError(f"architecture {shown(text)}: expected the hidden widths, such as mlp(24) or mlp(48,24)")
        return cls(tuple(int(width) for width in match[1].split(",")) if match[1] else ())


class Network(nn.Sequential):
    """Flatten, then a linear layer and ReLU for each hidden width, then a linear layer to the outputs."""

    def __init__(self, architecture: Architecture, task: Task) -> None:
        layers: list[nn.Module] = [nn.Flatten(1)]
        inputs = _features(task)
        for width in architecture.widths:
            layers += [nn.Linear(inputs, width), nn.ReLU()]
            inputs = width
        super().__init__(*layers, nn.Linear(inputs, task.outputs))

    def stages(self, x: Tensor) -> list[Tensor]:
        """The flattened input and the output of each hidden layer, all (B, width)."""
        maps: list[Tensor] = []
        for layer in self:
            x = layer(x)
            if isinstance(layer, nn.Flatten | nn.ReLU):
                maps.append(x)
        return maps


def _features(task: Task) -> int:
    if task.vocabularies:
        raise InputError(
            f"space mlp takes one tensor of numbers; the task has {len(task.vocabularies)} sparse features"
        )
    return math.prod(task.inputs)


@spaces.register("mlp")
class MLP(Space[Architecture]):
    """Perceptrons with ReLU.

    Args:
        widths: hidden widths to choose from, ascending.
        depths: numbers of hidden layers to choose from, ascending; a "two-layer" network has 1.
    """

    name = "mlp"
    summary = "perceptrons of any input; by default one hidden layer of 2, 4, ..., 48 units"
    source = "SiGeo (Experiment 1)"

    def __init__(self, *, widths: Sequence[int] = WIDTHS, depths: Sequence[int] = DEPTHS) -> None:
        for key, values, least in (("widths", widths, 1), ("depths", depths, 0)):
            whole = all(isinstance(value, int) for value in values)
            if not values or not whole or list(values) != sorted(set(values)) or values[0] < least:
                raise InputError(
                    f"space {self.name}: {key} {list(values)}, expected ascending whole numbers of at least {least}"
                )
        self.widths, self.depths = tuple(widths), tuple(depths)

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> Architecture:
        """The depth uniformly, then each width uniformly."""
        return Architecture(tuple(rng.choices(self.widths, k=rng.choice(self.depths))))

    def mutate(self, architecture: Architecture, rng: random.Random) -> Architecture:
        """One width is another; or, where depths differ, the next smaller or greater depth with layers removed or added."""
        widths = list(architecture.widths)
        place = self.depths.index(len(widths))
        depths = [self.depths[near] for near in (place - 1, place + 1) if 0 <= near < len(self.depths)]
        resize = len(self.widths) > 1 and bool(widths)
        if not depths and not resize:
            raise InputError(f"space {self.name} holds {architecture} only: it has no neighbour")
        if resize and rng.randrange(len(widths) + len(depths)) < len(widths):
            layer = rng.randrange(len(widths))
            widths[layer] = rng.choice([width for width in self.widths if width != widths[layer]])
            return Architecture(tuple(widths))
        depth = rng.choice(depths)
        while len(widths) > depth:
            widths.pop(rng.randrange(len(widths)))
        while len(widths) < depth:
            widths.insert(rng.randint(0, len(widths)), rng.choice(self.widths))
        return Architecture(tuple(widths))

    def crossover(self, first: Architecture, second: Architecture, rng: random.Random) -> Architecture:
        """The depth of one parent; each width from either, where both have that layer."""
        pattern = rng.choice([first, second])
        return Architecture(
            tuple(
                rng.choice([one.widths[layer] for one in (first, second) if layer < len(one.widths)])
                for layer in range(len(pattern.widths))
            )
        )

    def parse(self, text: str) -> Architecture:
        """Read the text, and check that it lies in this space."""
        architecture = Architecture.parse(text)
        if len(architecture.widths) not in self.depths:
            raise InputError(
                f"{architecture}: {len(architecture.widths)} hidden layers, expected {_listed(self.depths)}"
            )
        for layer, width in enumerate(architecture.widths, 1):
            if width not in self.widths:
                raise InputError(f"{architecture}: width {width} of layer {layer}, expected {_listed(self.widths)}")
        return architecture

    @property
    def size(self) -> int:
        """All widths of all depths."""
        return sum(len(self.widths) ** depth for depth in self.depths)

    def enumerate(self) -> Iterator[Architecture]:
        """By depth, the last width changing fastest."""
        for depth in self.depths:
            yield from map(Architecture, itertools.product(self.widths, repeat=depth))

    # -- one architecture ---------------------------------------------------------------------------------------------
    def build(self, architecture: Architecture, task: Task) -> Network:
        """The network, for any input shape."""
        return Network(architecture, task)

    def counts(self, architecture: Architecture, task: Task) -> Counts:
        """Exact, by formula."""
        sizes = (_features(task), *architecture.widths, task.outputs)
        return counting.total(counting.linear(a, b) for a, b in itertools.pairwise(sizes))

    def graph(self, architecture: Architecture) -> list[Graph]:
        """A chain."""
        nodes = ("input", *map(str, architecture.widths), "output")
        return [Graph(nodes, tuple((node, node + 1, "linear") for node in range(len(nodes) - 1)), title="layers")]


def _listed(numbers: Sequence[int]) -> str:
    return f"one of {', '.join(map(str, numbers))}" if len(numbers) > 1 else str(numbers[0])

"""The space of NAS-Bench-Macro."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

from foresee.checks import whole
from foresee.spaces import counting
from foresee.spaces.base import Graph, Space, spaces
from foresee.spaces.counting import Counts
from foresee.spaces.nasbench_macro.architecture import LAYERS, OPS, Architecture, canonical
from foresee.spaces.nasbench_macro.counts import formulas
from foresee.spaces.nasbench_macro.network import Network, build, places
from foresee.spaces.nasbench_macro.one_shot import NASBenchMacroOneShot
from foresee.spaces.one_shot import Choice
from foresee.task import Task


@spaces.register("nasbench_macro")
class NASBenchMacro(Space[Architecture]):
    """The networks of NAS-Bench-Macro. Texts that differ only in where identities stand are one network (3,969 classes).

    Args:
        channels: width of the stem; the benchmark has 32, and so stages of 64, 128 and 256 channels.
        head: width of the last convolution; the benchmark has 1,280.
    """

    name = "nasbench_macro"
    summary = "8 layers in 3 stages, each nothing or one of 2 inverted bottlenecks: 6,561 image networks"
    source = "NAS-Bench-Macro (Su et al., CVPR 2021)"

    def __init__(self, *, channels: int = 32, head: int = 1280) -> None:
        for key, value in (("channels", channels), ("head", head)):
            whole(key, value, of=f"space {self.name}")
        self.channels, self.head = channels, head

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> Architecture:
        """Each layer uniformly."""
        return Architecture(tuple(rng.choices(OPS, k=LAYERS)))

    def mutate(self, architecture: Architecture, rng: random.Random) -> Architecture:
        """A layer uniformly, then another operation."""
        ops, layer = list(architecture.ops), rng.randrange(LAYERS)
        ops[layer] = rng.choice([op for op in OPS if op != ops[layer]])
        return Architecture(tuple(ops))

    def crossover(self, first: Architecture, second: Architecture, rng: random.Random) -> Architecture:
        """Each layer from either parent."""
        return Architecture(tuple(map(rng.choice, zip(first.ops, second.ops, strict=True))))

    def parse(self, text: str) -> Architecture:
        """Read the benchmark's eight digits."""
        return Architecture.parse(text)

    @property
    def size(self) -> int:
        """Three operations in eight layers: 6,561."""
        return 3**8

    def enumerate(self) -> Iterator[Architecture]:
        """All networks in the order of their digits."""
        return map(Architecture, itertools.product(OPS, repeat=LAYERS))

    # -- choices --------------------------------------------------------------------------------------------------------
    @property
    def choices(self) -> tuple[Choice, ...]:
        """The operation of each layer."""
        return tuple(Choice(str(number), OPS) for number in range(1, LAYERS + 1))

    def assemble(self, picks: Sequence[int]) -> Architecture:
        """The network of these operations."""
        return Architecture(tuple(OPS[pick] for pick in picks))

    def picks(self, architecture: Architecture) -> tuple[int, ...]:
        """The places of its operations."""
        return tuple(map(OPS.index, architecture.ops))

    # -- one architecture ---------------------------------------------------------------------------------------------
    def canonical(self, architecture: Architecture) -> str:
        """Equal for texts that differ only in where, behind a stage's first layer, identities stand."""
        return canonical(architecture)

    def build(self, architecture: Architecture, task: Task) -> Network:
        """The network for images of any size and number of channels."""
        return build(architecture, task, self.channels, self.head)

    def counts(self, architecture: Architecture, task: Task) -> Counts:
        """Exact, by formula. The benchmark's own "flops" are these MACs."""
        fixed, layers = formulas(task, self.channels, self.head)
        return counting.total(costs[op] for costs, op in zip(layers, architecture.ops, strict=True)) + fixed

    def graph(self, architecture: Architecture) -> list[Graph]:
        """The chain of layers with their channels; identities that do nothing are not drawn."""
        nodes, kinds, stride = [f"stem, {self.channels}"], [""], 1
        for op, place in zip(architecture.ops, places(self.channels), strict=True):
            stride *= place.stride
            if op == "identity" and place.stride == 1:
                continue
            label = "1x1" if op == "identity" else op
            nodes.append(f"{label}, {place.outputs} at 1/{stride}")
            kinds.append(label)
        edges = tuple((place, place + 1, "") for place in range(len(nodes) - 1))
        return [Graph(tuple(nodes), edges, title="layers", kinds=tuple(kinds))]

    def one_shot(self, task: Task, **options: Any) -> NASBenchMacroOneShot:
        """All operations in every layer; options: `channels` and `head`, the widths."""
        made = type(self)(**{**self.settings(), **options})
        return NASBenchMacroOneShot(task, channels=made.channels, head=made.head)

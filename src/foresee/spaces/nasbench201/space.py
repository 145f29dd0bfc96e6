"""The space of NAS-Bench-201."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foresee.checks import whole
from foresee.errors import UnknownNameError
from foresee.spaces import counting
from foresee.spaces.base import Graph, Space, spaces
from foresee.spaces.counting import Counts
from foresee.spaces.four_nodes import EDGES, EDGES_INTO, NODES, loose_edges
from foresee.spaces.nasbench201.architecture import NAMED, OPS, Architecture
from foresee.spaces.nasbench201.counts import formulas
from foresee.spaces.nasbench201.identity import function_identity, published_identity
from foresee.spaces.nasbench201.network import VARIANTS, Network, build
from foresee.spaces.nasbench201.one_shot import NASBench201OneShot
from foresee.spaces.one_shot import Choice
from foresee.task import Task

IDENTITIES = ("benchmark", "skip", "function")


@spaces.register("nasbench201")
class NASBench201(Space[Architecture]):
    """The NAS-Bench-201 cells, also known as the topology space of NATS-Bench.

    Args:
        channels: width C of the first stage; the benchmark has 16.
        cells: number N of cells in each of the three stages; the benchmark has 5.
        variant: `benchmark` builds the benchmark's networks. `reference` builds those of the public proxy code: inside
            cells batch norm has neither scale, shift nor running statistics, convolutions have a bias, and every edge
            holds all five operations (their parameters count).
        identity: which cells count as one. `benchmark` (6,466 classes) is the benchmark's own text of the function,
            with skip as identity and none as zero; `skip` (12,751) collapses skips only. Both compare sums as text and
            leave a few equal ones apart; `function` (4,930) flattens sums and drops zeros. None of them tells apart
            whether a repeated expression has one set of weights or two, or counts weights that reach nothing.
    """

    name = "nasbench201"
    summary = "one repeated cell of 4 nodes, 6 edges, 5 operations: 15,625 image networks"
    source = "NAS-Bench-201 (Dong & Yang, ICLR 2020); the topology space of NATS-Bench"

    def __init__(
        self, *, channels: int = 16, cells: int = 5, variant: str = "benchmark", identity: str = "benchmark"
    ) -> None:
        for key, value in (("channels", channels), ("cells", cells)):
            whole(key, value, of=f"space {self.name}")
        if variant not in VARIANTS:
            raise UnknownNameError(f"variant of space {self.name}", str(variant), VARIANTS)
        if identity not in IDENTITIES:
            raise UnknownNameError(f"identity of space {self.name}", str(identity), IDENTITIES)
        self.channels, self.cells, self.variant, self.identity = channels, cells, variant, identity

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> Architecture:
        """Each edge's operation uniformly."""
        return Architecture(tuple(rng.choices(OPS, k=len(EDGES))))

    def mutate(self, architecture: Architecture, rng: random.Random) -> Architecture:
        """A node uniformly, then one of its edges, then another operation."""
        edge = rng.choice(EDGES_INTO[rng.choice(NODES)])
        ops = list(architecture.ops)
        ops[edge] = rng.choice([op for op in OPS if op != ops[edge]])
        return Architecture(tuple(ops))

    def crossover(self, first: Architecture, second: Architecture, rng: random.Random) -> Architecture:
        """Each edge from either parent."""
        return Architecture(tuple(rng.choice(pair) for pair in zip(first.ops, second.ops, strict=True)))

    def parse(self, text: str) -> Architecture:
        """Read the benchmark's text."""
        return Architecture.parse(text)

    @property
    def size(self) -> int:
        """Five operations on six edges: 15,625."""
        return 5**6

    def enumerate(self) -> Iterator[Architecture]:
        """All cells, the last edge changing fastest (the benchmark's files have an order of their own)."""
        return map(Architecture, itertools.product(OPS, repeat=len(EDGES)))

    @property
    def named(self) -> Mapping[str, Architecture]:
        """`ResNet`: a residual block. `NATS_SSS`: the cell of the size space of NATS-Bench."""
        return NAMED

    # -- choices --------------------------------------------------------------------------------------------------------
    @property
    def choices(self) -> tuple[Choice, ...]:
        """The operation of each edge: `3.1` is the edge from node 1 to node 3."""
        return tuple(Choice(f"{target}.{source}", OPS) for source, target in EDGES)

    def assemble(self, picks: Sequence[int]) -> Architecture:
        """The cell of these operations."""
        return Architecture(tuple(OPS[pick] for pick in picks))

    def picks(self, architecture: Architecture) -> tuple[int, ...]:
        """The places of its operations."""
        return tuple(map(OPS.index, architecture.ops))

    # -- one architecture ---------------------------------------------------------------------------------------------
    def canonical(self, architecture: Architecture) -> str:
        """Equal for cells that compute the same function, as far as the setting `identity` goes."""
        if self.identity == "function":
            return function_identity(architecture)
        return published_identity(architecture, zero=self.identity == "benchmark")

    def build(self, architecture: Architecture, task: Task) -> Network:
        """The network for images of any size and number of channels."""
        return build(architecture, task, self.channels, self.cells, self.variant)

    def counts(self, architecture: Architecture, task: Task) -> Counts:
        """Exact, by formula."""
        fixed, edges = formulas(task, self.channels, self.cells, self.variant)
        return counting.total(edges[op] for op in architecture.ops) + fixed

    def benchmark_flops(self, architecture: Architecture, task: Task) -> int:
        """The number the benchmark's tables call FLOPs: the MACs, and one more for each bias of the classifier.

        It is not `counts(...).flops`, which is two per MAC.
        """
        return self.counts(architecture, task).macs + task.outputs

    def one_shot(self, task: Task, *, partial: int = 1, **options: Any) -> NASBench201OneShot:
        """All operations on every edge, in this width, depth and variant or others; options as in `NASBench201OneShot`."""
        made = type(self)(**{**self.settings(), **options})
        return NASBench201OneShot(task, channels=made.channels, cells=made.cells, variant=made.variant, partial=partial)

    def unused_parameters(self, architecture: Architecture) -> frozenset[str]:
        """Modules, by name in the network, whose parameters cannot reach its output and so get no gradient."""
        dead = {f"edges.{edge}" for edge in loose_edges(architecture.ops)}
        if self.variant == "reference":
            dead |= {f"edges.{edge}.ops.{op}" for edge, used in enumerate(architecture.ops) for op in OPS if op != used}
        places = [place for place in range(3 * self.cells + 2) if (place + 1) % (self.cells + 1)]
        return frozenset(f"cells.{place}.{name}" for place in places for name in dead)

    def graph(self, architecture: Architecture) -> list[Graph]:
        """The cell; edges with `none` are not drawn."""
        edges = zip(EDGES, architecture.ops, strict=True)
        drawn = tuple((source, target, op) for (source, target), op in edges if op != "none")
        return [Graph(("input", "1", "2", "output"), drawn, title="cell")]

"""The DARTS space: a normal and a reduction cell, each of four nodes with two inputs and seven operations."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from foresee.errors import UnknownNameError
from foresee.spaces.base import Graph, Space, spaces
from foresee.spaces.counting import Counts
from foresee.spaces.darts import counts, network, text
from foresee.spaces.darts.cells import (
    EDGES,
    KINDS,
    NODES,
    OPS,
    Architecture,
    Cell,
    Edge,
    depth,
    discretise,
    width,
    within,
)
from foresee.spaces.darts.named import NAMED
from foresee.spaces.darts.network import Form
from foresee.spaces.darts.one_shot import DARTSOneShot
from foresee.task import Task


@spaces.register("darts")
class DARTS(Space[Architecture]):
    """The DARTS cells, which are those of NAS-Bench-301, in the networks of the DARTS paper.

    The space proper has four nodes a cell, each with two different inputs and one of seven operations on each. Published
    cells with five nodes, equal inputs or older operations can be read, built and counted too; `contains` tells.

    Args:
        channels: width C of the first cells; 36 for CIFAR-10 and 48 for ImageNet in the paper.
        layers: number of cells; 20 and 14 in the paper.
        network: `cifar` (3x3 stem) or `imagenet` (a stem that divides the size by 8).
        auxiliary: whether networks have an auxiliary head, reached by `forward_with_auxiliary`.
        drop_path: probability at first; training sets it through the modules `DropPath`.
        sampling: `uniform` over inputs and operations; `published_hnas` as the released HNAS code draws: random weights
            through DARTS' rule with the operations off by one, so that `dil_conv_5x5` never occurs.
        mutation: `single` changes one operation or one input; `published_nes` as the released NES-RE code: a cell, then
            with equal chances nothing, another input among those in use, or a newly drawn operation. It may change nothing.
    """

    name = "darts"
    summary = "a normal and a reduction cell of 4 nodes, 2 inputs each, 7 operations: 10^18 image networks"
    source = "DARTS (Liu, Simonyan & Yang, ICLR 2019); NAS-Bench-301"

    SAMPLINGS: ClassVar[tuple[str, ...]] = ("uniform", "published_hnas")
    MUTATIONS: ClassVar[tuple[str, ...]] = ("single", "published_nes")

    def __init__(
        self,
        *,
        channels: int = 36,
        layers: int = 20,
        network: str = "cifar",
        auxiliary: bool = False,
        drop_path: float = 0.0,
        sampling: str = "uniform",
        mutation: str = "single",
    ) -> None:
        for key, value, known in (
            ("sampling", sampling, self.SAMPLINGS),
            ("mutation", mutation, self.MUTATIONS),
        ):
            if value not in known:
                raise UnknownNameError(f"{key} of space {self.name}", str(value), known)
        self.channels, self.layers, self.network = channels, layers, network
        self.auxiliary, self.drop_path = bool(auxiliary), drop_path
        self.sampling, self.mutation = sampling, mutation
        self.form = Form(channels, layers, network, self.auxiliary, self.drop_path)

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> Architecture:
        """Two inputs for each node, an operation for each; as the setting `sampling` says."""
        draw = self._draw_hnas if self.sampling == "published_hnas" else self._draw
        return Architecture(draw(rng), draw(rng))

    def _draw(self, rng: random.Random) -> Cell:
        edges: list[Edge] = []
        for node in NODES:
            sources = sorted(rng.sample(range(node), 2))
            edges += zip(self._draw_ops(rng), sources, strict=True)
        return Cell(tuple(edges))

    def _draw_ops(self, rng: random.Random) -> Sequence[str]:
        """The operations of a node's two edges."""
        return rng.choices(OPS, k=2)

    def _draw_hnas(self, rng: random.Random) -> Cell:
        # seven weights an edge, read with the list of eight operations: the first is taken for `none`, the last is absent
        return discretise([[rng.random() for _ in OPS][1:] for _ in EDGES])

    def mutate(self, architecture: Architecture, rng: random.Random) -> Architecture:
        """One operation or one input changed, in either cell; as the setting `mutation` says."""
        kind = rng.choice(KINDS)
        change = self._change_nes if self.mutation == "published_nes" else self._change
        cells = {name: architecture[name] for name in KINDS}
        cells[kind] = change(cells[kind], rng)
        return Architecture(**cells)

    def _change(self, cell: Cell, rng: random.Random) -> Cell:
        place = rng.randrange(len(cell.edges))
        op, source = cell.edges[place]
        node, beside = 2 + place // 2, cell.edges[place ^ 1]
        free = [other for other in range(node) if other not in (source, beside[1])]
        if free and rng.random() < 0.5:
            return _replace(cell, place, (op, rng.choice(free)))
        return _replace(cell, place, (rng.choice(self._other_ops(op, beside[0])), source))

    def _other_ops(self, op: str, beside: str) -> list[str]:
        """What an operation may change to, given the one on the node's other edge."""
        return [other for other in OPS if other != op]

    def _change_nes(self, cell: Cell, rng: random.Random) -> Cell:
        what, place = rng.choice(("nothing", "input", "operation")), rng.randrange(len(cell.edges))
        op, source = cell.edges[place]
        if what == "operation":
            return _replace(cell, place, (rng.choice(OPS), source))
        used = {source for _, source in cell.edges} - {cell.edges[place ^ 1][1]}
        free = sorted(other for other in used if other < 2 + place // 2)
        return _replace(cell, place, (op, rng.choice(free))) if what == "input" and free else cell

    def crossover(self, first: Architecture, second: Architecture, rng: random.Random) -> Architecture:
        """Each node from either parent; whole cells where these differ in the number of nodes or in what they join."""
        cells = {}
        for kind in KINDS:
            one, two = first[kind], second[kind]
            if len(one.edges) != len(two.edges) or one.concat != two.concat:
                cells[kind] = rng.choice((one, two))
                continue
            pairs = [rng.choice(nodes)[1] for nodes in zip(one.nodes, two.nodes, strict=True)]
            cells[kind] = Cell(tuple(edge for pair in pairs for edge in pair), one.concat)
        return Architecture(**cells)

    def parse(self, text_form: str) -> Architecture:
        """Read a genotype, a NAS-Bench-301 configuration or a list of (input, operation index) pairs."""
        return text.parse(text_form)

    def contains(self, architecture: Architecture) -> bool:
        """Whether the architecture is one of those that are sampled, and not only readable."""
        return all(within(architecture[kind]) for kind in KINDS)

    @property
    def size(self) -> int:
        """(180 x 7^8)^2: the order of a node's edges does not count."""
        return (180 * len(OPS) ** 8) ** 2

    @property
    def named(self) -> Mapping[str, Architecture]:
        """Published cells; `NASNet_A`, `AmoebaNet_A` and `ENAS` lie outside the space."""
        return NAMED

    # -- one architecture ---------------------------------------------------------------------------------------------
    def canonical(self, architecture: Architecture) -> str:
        """The genotype in normal form: order of edges and numbering of nodes do not matter, idle nodes are left out."""
        return str(Architecture(architecture.normal.relabelled(), architecture.reduce.relabelled()))

    def build(self, architecture: Architecture, task: Task) -> network.Network:
        """The network for images of any size and number of channels."""
        return network.build(architecture, task, self.form)

    def counts(self, architecture: Architecture, task: Task) -> Counts:
        """Exact, by formula. An auxiliary head counts in params, not in MACs: it is for training only."""
        return counts.count(architecture, task, self.form)

    def unused_parameters(self, architecture: Architecture) -> frozenset[str]:
        """Modules that cannot reach the output: the auxiliary head, and what a published cell leaves idle."""
        return network.idle(architecture, self.form)

    def graph(self, architecture: Architecture) -> list[Graph]:
        """Both cells, each with its width (in units of one node's) and depth."""
        return [
            _graph(architecture[kind], title)
            for kind, title in zip(KINDS, ("normal cell", "reduction cell"), strict=True)
        ]

    def one_shot(self, task: Task, **options: Any) -> DARTSOneShot:
        """The DARTS search network; see `DARTSOneShot` for the options."""
        return DARTSOneShot(task, **{"network": self.network, **options})


def _replace(cell: Cell, place: int, edge: Edge) -> Cell:
    return Cell((*cell.edges[:place], edge, *cell.edges[place + 1 :]), cell.concat)


def _graph(cell: Cell, title: str) -> Graph:
    title = f"{title}: width {width(cell):g}, depth {depth(cell)}"
    count = 2 + len(cell.edges) // 2
    labels = ("before last", "last", *map(str, range(2, count)), "output")
    edges = [(source, node, op) for node, pair in cell.nodes for op, source in pair]
    return Graph(labels, (*edges, *((node, count, "") for node in cell.concat)), title=title)

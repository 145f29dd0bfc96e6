"""NAS-Bench-101: every cell of at most 7 vertices and 9 edges with 3 operations; 423,624 of them.

>>> space = NASBench101()
>>> cell = space.named["ResNet"]
>>> str(cell)
'conv3x3@0+conv3x3@1+output@0,2'
>>> space.canonical(cell)
'b5fb4f6193360330b6ff6a52cbf0cad7'
>>> space.counts(cell, Task((3, 32, 32), 10)).params
20346506
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from foresee.checks import whole
from foresee.errors import UnknownNameError
from foresee.spaces.base import Graph, Space, spaces
from foresee.spaces.counting import Counts
from foresee.spaces.nasbench101 import listing
from foresee.spaces.nasbench101.cell import MAX_EDGES, MAX_VERTICES, OPS, Architecture, Parents, in_use
from foresee.spaces.nasbench101.network import VARIANTS, Network, count
from foresee.task import Task

SAMPLINGS = ("uniform", "published")
#: at most so many vertices feed the output (5 would need 10 edges), and each needs a channel
MIN_CHANNELS = 4


class CellSpace(Space[Architecture]):
    """What spaces of NAS-Bench-101 cells share: the networks, the counts, the identity.

    Args:
        channels: width of the stem and of the first stack; the benchmark has 128.
        stacks: number of stacks, each twice as wide and half as large as the one before; the benchmark has 3.
        cells: number of cells in a stack; the benchmark has 3.
        variant: `benchmark` gives first weights and batch-norm momentum as the benchmark's; `reference` those of the public
            port to PyTorch that proxy code uses. The networks are otherwise the same.
        sampling: `uniform` or `published`; see `sample` and `mutate`.
    """

    def __init__(
        self,
        *,
        channels: int = 128,
        stacks: int = 3,
        cells: int = 3,
        variant: str = "benchmark",
        sampling: str = "uniform",
    ) -> None:
        for key, value, least in (
            ("channels", channels, MIN_CHANNELS),
            ("stacks", stacks, 1),
            ("cells", cells, 1),
        ):
            whole(key, value, least, of=f"space {self.name}")
        if variant not in VARIANTS:
            raise UnknownNameError(f"variant of space {self.name}", str(variant), VARIANTS)
        if sampling not in SAMPLINGS:
            raise UnknownNameError(f"sampling of space {self.name}", str(sampling), SAMPLINGS)
        self.channels, self.stacks, self.cells = channels, stacks, cells
        self.variant, self.sampling = variant, sampling

    def canonical(self, architecture: Architecture) -> str:
        """The benchmark's hash of the pruned cell, which is also its key in the benchmark's tables."""
        return architecture.hash

    def build(self, architecture: Architecture, task: Task) -> Network:
        """The benchmark's network of the cell's normal form, for images of any size and number of channels."""
        return Network(architecture, task, self.channels, self.stacks, self.cells, self.variant)

    def counts(self, architecture: Architecture, task: Task) -> Counts:
        """Exact, by formula."""
        return count(architecture, task, self.channels, self.stacks, self.cells)

    def graph(self, architecture: Architecture) -> list[Graph]:
        """The cell as it was written; operations sit on the vertices."""
        edges = tuple((p, v, "") for v, read in enumerate(architecture.parents, 1) for p in read)
        return [Graph(("input", *architecture.ops, "output"), edges, title="cell")]


@spaces.register("nasbench101")
class NASBench101(CellSpace):
    """The NAS-Bench-101 cells. A cell has many texts (its vertices can be numbered otherwise); its identity is one.

    Settings are those of `CellSpace`.
    """

    name = "nasbench101"
    summary = "one repeated cell of up to 7 vertices, 9 edges, 3 operations: 423,624 image networks"
    source = "NAS-Bench-101 (Ying et al., ICML 2019)"
    no_one_shot = (
        "a vertex is as wide as its cell's other vertices leave it, so cells cannot share its weights; use "
        "nasbench1shot1_s1, nasbench1shot1_s2 or nasbench1shot1_s3, whose cells are NAS-Bench-101 cells"
    )

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> Architecture:
        """Each of the 423,624 cells with equal chances, in its normal form.

        `published`: a coin for each of the 21 possible edges, an operation for each of 5 vertices, again until the cell is
        valid. That favours cells that can be numbered in many ways; vertices without use are kept in the text.
        """
        if self.sampling == "uniform":
            return listing.draw(rng)
        while True:
            bits = rng.getrandbits(MAX_VERTICES * (MAX_VERTICES - 1) // 2)
            parents: list[tuple[int, ...]] = []
            for vertex in range(1, MAX_VERTICES):
                parents.append(tuple(p for p in range(vertex) if bits >> p & 1))
                bits >>= vertex
            if is_valid(tuple(parents)):
                return Architecture(tuple(rng.choices(OPS, k=MAX_VERTICES - 2)), tuple(parents))

    def mutate(self, architecture: Architecture, rng: random.Random) -> Architecture:
        """One change to the pruned cell, always to a cell of another identity.

        A place is drawn uniformly until what it gives is valid: an operation is replaced by another; an edge is put in or
        taken out (with the vertices that are then of no use); or, while there are fewer than 7, a vertex is put in between
        two others. `published`: every edge of the cell as written is drawn again with probability 1 / places, every
        operation with 1 / vertices, until the cell is valid; it may stay the same.
        """
        if self.sampling == "published":
            return _redrawn(architecture, rng)
        cell = architecture.pruned
        last = len(cell.parents)
        pairs = [(p, v) for v in range(1, last + 1) for p in range(v)]
        room = last + 1 < MAX_VERTICES
        while True:
            place = rng.randrange(last - 1 + len(pairs) * (1 + room))
            ops, parents = list(cell.ops), list(cell.parents)
            if place < last - 1:
                ops[place] = rng.choice([op for op in OPS if op != ops[place]])
            elif place < last - 1 + len(pairs):
                source, target = pairs[place - (last - 1)]
                parents[target - 1] = tuple(sorted({*parents[target - 1]} ^ {source}))
            else:
                source, target = pairs[place - (last - 1) - len(pairs)]
                ops, parents = _with_vertex(ops, parents, source, target, rng.choice(OPS))
            if is_valid(tuple(parents)):
                # another label, or more or fewer edges or vertices in use: never the same cell again
                return Architecture(tuple(ops), tuple(parents)).pruned

    def crossover(self, first: Architecture, second: Architecture, rng: random.Random) -> Architecture:
        """Each vertex, with its operation and what it reads, from either parent.

        Vertices are matched by number, outputs with each other. Where a hundred draws give no valid cell, a mutation.
        """
        size = max(len(first.parents), len(second.parents))
        family = [pad(parent.pruned, size + 1) for parent in (first, second)]
        for _ in range(100):
            chosen = rng.choices(family, k=size)
            parents = tuple(parent.parents[vertex] for vertex, parent in enumerate(chosen))
            if is_valid(parents):
                ops = tuple(parent.ops[vertex] for vertex, parent in enumerate(chosen[:-1]))
                return Architecture(ops, parents).pruned
        return self.mutate(rng.choice([first, second]), rng)

    def parse(self, text: str) -> Architecture:
        """Read a cell's text."""
        return Architecture.parse(text)

    @property
    def size(self) -> int:
        """Number of different cells (not of texts)."""
        return 423_624

    def enumerate(self) -> Iterator[Architecture]:
        """Every cell once, in its normal form, in the order of the benchmark's own listing."""
        for wiring in listing.wirings()[0]:
            yield from wiring.all_cells()

    @property
    def named(self) -> Mapping[str, Architecture]:
        """`ResNet`: a residual block. `Inception`: the example of the benchmark's own documentation."""
        return {
            "ResNet": Architecture.parse("conv3x3@0+conv3x3@1+output@0,2"),
            "Inception": Architecture.parse("conv1x1@0+conv3x3@0+conv3x3@0+conv3x3@3+maxpool3x3@0+output@1,2,4,5"),
        }


# -- small changes ----------------------------------------------------------------------------------------------------
def is_valid(parents: Parents) -> bool:
    """Whether input and output are connected, with no more edges between them than allowed."""
    used = in_use(parents)
    return bool(used) and sum(p in used for v in used[1:] for p in parents[v - 1]) <= MAX_EDGES


def pad(cell: Architecture, vertices: int) -> Architecture:
    """The same cell with so many vertices: unconnected 1x1 convolutions are put before the output."""
    extra = vertices - 1 - len(cell.parents)
    return Architecture((*cell.ops, *["conv1x1"] * extra), (*cell.parents[:-1], *[()] * extra, cell.parents[-1]))


def _with_vertex(
    ops: list[str], parents: list[tuple[int, ...]], source: int, target: int, op: str
) -> tuple[list[str], list[tuple[int, ...]]]:
    """A vertex more, read by `target` and reading `source`; it stands right before `target`."""
    moved = [tuple(p + (p >= target) for p in read) for read in parents]
    moved[target - 1] = tuple(sorted((*moved[target - 1], target)))
    return [*ops[: target - 1], op, *ops[target - 1 :]], [
        *moved[: target - 1],
        (source,),
        *moved[target - 1 :],
    ]


def _redrawn(cell: Architecture, rng: random.Random) -> Architecture:
    """The usual mutation of a bit string: all places are redrawn with a small probability."""
    last = len(cell.parents)
    per_edge, per_op = 2 / (last * (last + 1)), 1 / max(1, len(cell.ops))
    while True:
        parents = tuple(
            tuple(p for p in range(v) if (rng.random() < 0.5 if rng.random() < per_edge else p in read))
            for v, read in enumerate(cell.parents, 1)
        )
        if is_valid(parents):
            ops = tuple(rng.choice(OPS) if rng.random() < per_op else op for op in cell.ops)
            return Architecture(ops, parents)

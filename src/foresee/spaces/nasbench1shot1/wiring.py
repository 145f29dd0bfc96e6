"""Which cells NAS-Bench-1Shot1 allows: each node of a space reads a fixed number of earlier ones.

Cells are NAS-Bench-101 cells. A node that no later one needs is a *loose end*. Three sets are in use:

- `kept`: every node reads as many as it must, loose or not. This is what search methods return.
- `trimmed`: loose ends read nothing and carry the filler operation. Different kept cells become equal.
- `listed`: of the trimmed cells, those in which the nodes in use, in order, each read the one before. The generator of
  the public code lists these and no others, so tables of the benchmark hold these.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from foresee.errors import InputError
from foresee.spaces.nasbench101.cell import OPS, Architecture, Parents, in_use

LOOSE_ENDS = ("kept", "trimmed", "listed")
#: operation of a node that is not in use, and of the vertex that fills a cell up to NAS-Bench-101's seven
FILLER = "conv1x1"


@dataclass(frozen=True)
class Wiring:
    """The wiring rule of one space.

    Args:
        reads: how many vertices each interior node, then the output, reads.

    >>> [Wiring(reads).size("kept") for reads in ((1, 2, 2, 2, 2), (1, 1, 2, 2, 3), (1, 1, 1, 2, 2, 2))]
    [14580, 29160, 1312200]
    >>> [Wiring(reads).size("listed") for reads in ((1, 2, 2, 2, 2), (1, 1, 2, 2, 3), (1, 1, 1, 2, 2, 2))]
    [2487, 3609, 24066]
    """

    reads: tuple[int, ...]

    @property
    def nodes(self) -> int:
        """Number of nodes that carry an operation."""
        return len(self.reads) - 1

    @cached_property
    def options(self) -> tuple[Parents, ...]:
        """For each node and the output, every set of vertices it may read."""
        return tuple(tuple(itertools.combinations(range(vertex), count)) for vertex, count in enumerate(self.reads, 1))

    @cached_property
    def free(self) -> tuple[int, ...]:
        """The vertices whose inputs are a choice at all."""
        return tuple(vertex for vertex, sets in enumerate(self.options, 1) if len(sets) > 1)

    # -- the sets -----------------------------------------------------------------------------------------------------
    def matrices(self, loose_ends: str) -> tuple[Parents, ...]:
        """Every wiring of a set once."""
        return _matrices(self, loose_ends)

    def size(self, loose_ends: str) -> int:
        """Number of cells in a set."""
        return _totals(self, loose_ends)[-1]

    def labelled(self, parents: Parents) -> Iterator[Architecture]:
        """Every cell with this wiring; a vertex that reads nothing has the filler operation."""
        per_node = [OPS if read else (FILLER,) for read in parents[:-1]]
        return (Architecture(ops, parents) for ops in itertools.product(*per_node))

    # -- one cell -----------------------------------------------------------------------------------------------------
    def draw(self, loose_ends: str, rng: random.Random) -> Architecture:
        """A cell of a set, each with equal chances."""
        if loose_ends == "kept":
            return self.completed(None, rng)
        parents = rng.choices(self.matrices(loose_ends), cum_weights=_totals(self, loose_ends))[0]
        return Architecture(tuple(rng.choice(OPS) if read else FILLER for read in parents[:-1]), parents)

    def completed(self, cell: Architecture | None, rng: random.Random) -> Architecture:
        """The cell with something drawn for each of its loose ends that reads nothing (for all, without a cell)."""
        old = cell.parents if cell else ((),) * len(self.reads)
        parents = tuple(read or rng.choice(sets) for read, sets in zip(old, self.options, strict=True))
        drawn = rng.choices(OPS, k=self.nodes)
        ops = tuple(cell.ops[n] if cell and old[n] else op for n, op in enumerate(drawn))
        return Architecture(ops, parents)

    def trimmed(self, cell: Architecture) -> Architecture:
        """The cell with its loose ends cut off."""
        parents = _trimmed(cell.parents)
        ops = tuple(op if read else FILLER for op, read in zip(cell.ops, parents, strict=False))
        return Architecture(ops, parents)

    def check(self, cell: Architecture, loose_ends: str) -> None:
        """An `InputError` that says why a cell is not in a set, where it is not."""
        if len(cell.ops) != self.nodes:
            raise InputError(f"cell {cell}: {len(cell.ops)} operations, expected {self.nodes}")
        used = in_use(cell.parents)
        for vertex, (read, count) in enumerate(zip(cell.parents, self.reads, strict=True), 1):
            name = "output" if vertex == len(self.reads) else f"vertex {vertex}"
            loose = vertex not in used and loose_ends != "kept"
            if loose and (read or cell.ops[vertex - 1] != FILLER):
                raise InputError(
                    f"cell {cell}, {name}: nothing needs it, so it must be {FILLER}@- (loose_ends is {loose_ends!r})"
                )
            if not loose and len(read) != count:
                raise InputError(f"cell {cell}, {name}: reads {len(read)} vertices, expected {count}")
        if loose_ends == "listed" and not _is_listed(cell.parents):
            raise InputError(f"cell {cell}: not listed, since the nodes in use do not each read the one before")


def _trimmed(parents: Parents) -> Parents:
    used = in_use(parents)
    return tuple(read if vertex in used else () for vertex, read in enumerate(parents, 1))


def _is_listed(parents: Sequence[tuple[int, ...]]) -> bool:
    return all(before in parents[vertex - 1] for before, vertex in itertools.pairwise(in_use(tuple(parents))))


@lru_cache(maxsize=16)
def _matrices(wiring: Wiring, loose_ends: str) -> tuple[Parents, ...]:
    every = itertools.product(*wiring.options)
    if loose_ends == "kept":
        return tuple(every)
    return tuple(
        parents for parents in dict.fromkeys(map(_trimmed, every)) if loose_ends == "trimmed" or _is_listed(parents)
    )


@lru_cache(maxsize=16)
def _totals(wiring: Wiring, loose_ends: str) -> tuple[int, ...]:
    """Running total of the cells of each matrix."""
    labels = (len(OPS) ** sum(map(bool, parents[:-1])) for parents in wiring.matrices(loose_ends))
    return tuple(itertools.accumulate(labels))

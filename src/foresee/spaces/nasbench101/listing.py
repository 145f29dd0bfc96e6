"""All 423,624 NAS-Bench-101 cells up to isomorphism, as wirings with their symmetries.

A wiring is a cell without its operations. Of all ways to number its vertices the one with the smallest code is kept; of
all labellings that the wiring's symmetries carry into each other, the smallest. So each cell is met exactly once, in its
normal form, and one can be drawn with equal chances in microseconds. The table takes a fraction of a second, once per
process, when first used.
"""

from __future__ import annotations

import itertools
import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from foresee.spaces.nasbench101.cell import (
    MAX_EDGES,
    MAX_VERTICES,
    OPS,
    Architecture,
    Parents,
    decode,
    edge_bit,
)

Codes = NDArray[np.int64]
_NO_IMAGE = np.int64(1) << 40


@dataclass(frozen=True)
class Wiring:
    """Parents of each vertex, and the permutations of the interior vertices that leave the graph as it is."""

    parents: Parents
    symmetries: tuple[tuple[int, ...], ...]

    @property
    def interior(self) -> int:
        """Number of vertices that carry an operation."""
        return len(self.parents) - 1

    @property
    def cells(self) -> int:
        """How many different cells have this wiring (Burnside: the mean number of labellings a symmetry keeps)."""
        kept = sum(int(len(OPS) ** _cycles(symmetry)) for symmetry in self.symmetries)
        return kept // len(self.symmetries)

    def is_first(self, labels: Sequence[int]) -> bool:
        """Whether no symmetry carries these labels into smaller ones."""
        given = list(labels)
        return all([given[v] for v in symmetry] >= given for symmetry in self.symmetries)

    def cell(self, labels: Sequence[int]) -> Architecture:
        """The cell with these operations."""
        return Architecture(tuple(OPS[label] for label in labels), self.parents)

    def all_cells(self) -> Iterator[Architecture]:
        """Each cell of this wiring once."""
        labellings = itertools.product(range(len(OPS)), repeat=self.interior)
        return (self.cell(labels) for labels in labellings if self.is_first(labels))


@lru_cache(maxsize=1)
def wirings() -> tuple[tuple[Wiring, ...], tuple[int, ...]]:
    """Every wiring once, and the running total of their cells."""
    every = tuple(itertools.chain.from_iterable(map(_wirings_of, range(2, MAX_VERTICES + 1))))
    return every, tuple(itertools.accumulate(wiring.cells for wiring in every))


def draw(rng: random.Random) -> Architecture:
    """A cell, each of the 423,624 with equal chances."""
    every, totals = wirings()
    wiring = every[bisect_right(totals, rng.randrange(totals[-1]))]
    while True:  # uniform over the labellings that are kept; most wirings have no symmetry and keep all
        labels = rng.choices(range(len(OPS)), k=wiring.interior)
        if wiring.is_first(labels):
            return wiring.cell(labels)


# -- the table --------------------------------------------------------------------------------------------------------
def _wirings_of(vertices: int) -> Iterator[Wiring]:
    """All wirings of so many vertices, each in its smallest code."""
    codes = _connected(vertices)
    orders = list(itertools.permutations(range(1, vertices - 1)))
    for order in orders:
        codes = codes[_renumbered(codes, order) >= codes]
    kept = np.stack([_renumbered(codes, order) == codes for order in orders])
    for code, symmetric in zip(codes.tolist(), kept.T, strict=True):
        symmetries = itertools.compress(orders, symmetric)
        yield Wiring(decode(code, vertices), tuple(tuple(v - 1 for v in order) for order in symmetries))


def _connected(vertices: int) -> Codes:
    """Codes of all graphs within the limit of edges in which every vertex lies on a path from input to output."""
    codes = np.zeros(1, dtype=np.int64)
    edges = np.zeros(1, dtype=np.int64)
    for j in range(1, vertices):  # each vertex reads at least one; each later one still needs an edge
        read = np.arange(1, 1 << j)
        codes = (codes[:, None] | read << edge_bit(0, j)).ravel()
        edges = (edges[:, None] + np.array([number.bit_count() for number in read.tolist()])).ravel()
        fits = edges <= MAX_EDGES - (vertices - 1 - j)
        codes, edges = codes[fits], edges[fits]
    for i in range(vertices - 1):  # and each is read by at least one
        codes = codes[codes & sum(1 << edge_bit(i, j) for j in range(i + 1, vertices)) != 0]
    return codes


def _renumbered(codes: Codes, order: Sequence[int]) -> Codes:
    """Codes after interior vertex v became `order[v - 1]`; a huge number where an edge would then lead backwards."""
    new = (0, *order, len(order) + 1)
    images = np.zeros_like(codes)
    backwards = np.zeros(len(codes), dtype=bool)
    for i, j in itertools.combinations(range(len(new)), 2):
        present = codes >> edge_bit(i, j) & 1
        if new[i] < new[j]:
            images |= present << edge_bit(new[i], new[j])
        else:
            backwards |= present != 0
    return np.where(backwards, _NO_IMAGE, images)


def _cycles(permutation: Sequence[int]) -> int:
    seen: set[int] = set()
    count = 0
    for start in range(len(permutation)):
        count += start not in seen
        while start not in seen:
            seen.add(start)
            start = permutation[start]
    return count

"""Where a cell lies among all cells of its space, by width and depth.

A space that can be listed is looked at as a whole, the DARTS cells by their 180 ways to be connected (each has as many
operations as any other), everything else by a sample; which of these it was is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations, product
from typing import Any

from foresee.checks import whole
from foresee.errors import InputError
from foresee.insight.topology import Topology, shape_of
from foresee.seeds import stream
from foresee.spaces.base import Graph, Space
from foresee.spaces.darts.space import DARTS

#: spaces of more architectures are sampled
LISTED = 50_000
#: as many are drawn of those
SAMPLED = 2000


@dataclass(frozen=True)
class Place:
    """Where a cell lies: shares of all cells, from 0 to 1, that are so."""

    narrower: float
    wider: float
    shallower: float
    deeper: float
    as_wide_and_shallow: float

    def __str__(self) -> str:
        width = f"wider than {self.narrower:.1%} of all cells and narrower than {self.wider:.1%}"
        depth = f"shallower than {self.deeper:.1%} and deeper than {self.shallower:.1%}"
        return ", ".join(
            (
                width if self.narrower or self.wider else "as wide as all cells",
                depth if self.shallower or self.deeper else "as deep as all cells",
            )
        )

    def to_json(self) -> dict[str, float]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Distribution:
    """How many cells have each width and depth.

    Args:
        counts: (width, depth) to cells.
        words: of what.
        whole: whether these are all, and not a sample.
    """

    counts: Mapping[tuple[float, int], int]
    words: str
    whole: bool

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())

    def share(self, test: Any) -> float:
        """The share of cells of which `test(width, depth)` is true."""
        return sum(count for pair, count in self.counts.items() if test(*pair)) / self.total

    def place(self, cell: Topology) -> Place:
        """Where a cell lies among these.

        >>> from foresee.insight.topology import shapes
        >>> from foresee.spaces import get
        >>> darts = get("darts")
        >>> found = distribution(darts).place(shapes(darts, darts.named["DARTS_V2"])[0])
        >>> round(found.wider, 4), round(found.as_wide_and_shallow, 4)
        (0.0056, 0.0722)
        """
        return Place(
            narrower=self.share(lambda width, depth: width < cell.width),
            wider=self.share(lambda width, depth: width > cell.width),
            shallower=self.share(lambda width, depth: depth < cell.depth),
            deeper=self.share(lambda width, depth: depth > cell.depth),
            as_wide_and_shallow=self.share(lambda width, depth: width >= cell.width and depth <= cell.depth),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        cells = [{"width": width, "depth": depth, "cells": n} for (width, depth), n in sorted(self.counts.items())]
        return {"words": self.words, "whole": self.whole, "cells": cells}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Distribution:
        """Inverse of `to_json`."""
        counts = {(float(one["width"]), int(one["depth"])): int(one["cells"]) for one in plain["cells"]}
        return cls(counts, plain["words"], plain["whole"])


def distribution(
    space: Space[Any], *, cell: int = 0, listed: int = LISTED, sample: int = SAMPLED, seed: int = 0
) -> Distribution:
    """How the cells of a space are spread over widths and depths.

    Args:
        space: which; it must draw its architectures.
        cell: which of an architecture's cells, as `space.graph` orders them.
        listed: a space of more architectures than this is sampled.
        sample: how many are drawn then.
        seed: of the draws.
    """
    if type(space) is DARTS and space.sampling == "uniform":
        return connected(nodes=4, words="all ways to connect a DARTS cell")
    whole("sample", sample)
    size = space.size
    lists = space.enumerable and size is not None and size <= listed
    rng = stream(seed, "cells of a space")
    drawn = space.enumerate() if lists else (space.sample(rng) for _ in range(sample))
    counts: Counter[tuple[float, int]] = Counter()
    for architecture in drawn:
        graphs = space.graph(architecture)
        if not 0 <= cell < len(graphs):
            raise InputError(f"cell {cell}: architectures of space {space.name} have {len(graphs)} that are drawn")
        shape = shape_of(graphs[cell])
        counts[shape.width, shape.depth] += 1
    words = (
        f"all {size:,} architectures of {space.name}" if lists else f"{sample:,} random architectures of {space.name}"
    )
    return Distribution(dict(counts), words, lists)


def connected(nodes: int = 4, *, repeated: bool = False, words: str = "") -> Distribution:
    """All ways to connect a cell of two inputs and so many nodes that read two each, all of them joined.

    With `repeated` a node may read the same one twice, as random variants do (thesis, A.1.2): then the two edges of a node
    are told apart, since their operations differ.

    >>> connected(4).total, connected(3, repeated=True).total
    (180, 576)
    """
    whole("nodes", nodes)
    if repeated and nodes > 5:
        raise InputError(f"{nodes} nodes: connected with repeats there are too many ways; expected at most 5")
    counts: Counter[tuple[float, int]] = Counter()
    for links in _wirings(nodes, repeated):
        shape = shape_of(wired(links))
        counts[shape.width, shape.depth] += 1
    said = words or f"all ways to connect {nodes} nodes" + (", repeats included" if repeated else "")
    return Distribution(dict(counts), said, True)


def wired(links: tuple[tuple[int, ...], ...], joined: tuple[int, ...] | None = None) -> Graph:
    """A cell of two inputs as a graph, by what each of its nodes reads; by default all of them are joined."""
    count = 2 + len(links)
    edges = [(source, node, "") for node, sources in enumerate(links, 2) for source in sources]
    ends = [(node, count, "") for node in (range(2, count) if joined is None else joined)]
    return Graph(("before last", "last", *map(str, range(2, count)), "output"), (*edges, *ends))


def _wirings(nodes: int, repeated: bool) -> Iterator[tuple[tuple[int, ...], ...]]:
    ways = [
        list(product(range(node), repeat=2) if repeated else combinations(range(node), 2))
        for node in range(2, 2 + nodes)
    ]
    return iter(product(*ways))

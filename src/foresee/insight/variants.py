"""Other cells made from a cell: connected otherwise, or with other operations (thesis, A.1.2, 4.4 and 7.5.3).

A variant of *connections* keeps every operation at its place and draws what it reads uniformly from the nodes before, so
that a node may read the same one twice; one of *operations* keeps all connections and draws the operations uniformly from the
seven of the space. `widest` lets all nodes read the cell's two inputs alone, `deepest` the two nodes before it. All of them
change both the normal and the reduction cell.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from foresee.checks import whole
from foresee.errors import InputError, UnknownNameError
from foresee.seeds import stream
from foresee.spaces.darts.cells import KINDS, OPS, Architecture, Cell, Edge, depth, width
from foresee.spaces.darts.text import parse

Kind: TypeAlias = Literal["connections", "operations"]
#: draws for each variant that is wanted, before it is said that there are no more
TRIED = 200
#: of so many times as many draws random connections are chosen that span the widths
DRAWN = 6


@dataclass(frozen=True)
class Variant:
    """A cell of a study: what it is called, its architecture, and the shape of its normal cell."""

    name: str
    architecture: Architecture

    @property
    def width(self) -> float:
        """Of the normal cell."""
        return width(self.architecture.normal)

    @property
    def depth(self) -> int:
        """Of the normal cell."""
        return depth(self.architecture.normal)

    def __str__(self) -> str:
        return f"{self.name} ({self.width:g}c, {self.depth})"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"name": self.name, "architecture": str(self.architecture), "width": self.width, "depth": self.depth}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Variant:
        """Inverse of `to_json`."""
        return cls(plain["name"], parse(plain["architecture"]))


def random_connections(architecture: Architecture, rng: random.Random) -> Architecture:
    """The same operations, each reading any of the nodes before its own."""
    return _changed(architecture, lambda op, source, node, slot: (op, rng.randrange(node)))


def random_operations(architecture: Architecture, rng: random.Random) -> Architecture:
    """The same connections, each with any operation of the space."""
    return _changed(architecture, lambda op, source, node, slot: (rng.choice(OPS), source))


def widest(architecture: Architecture) -> Architecture:
    """The widest and shallowest cells of these operations: every node reads both inputs, as all nodes of SNAS do.

    >>> from foresee.spaces.darts.named import NAMED
    >>> made = widest(NAMED["DARTS_V2"])
    >>> width(made.normal), depth(made.normal), width(made.reduce)
    (4.0, 2, 4.0)
    """
    return _changed(architecture, lambda op, source, node, slot: (op, slot))


def deepest(architecture: Architecture) -> Architecture:
    """The deepest cells of these operations: every node reads the two before it.

    >>> from foresee.spaces.darts.named import NAMED
    >>> made = deepest(NAMED["DARTS_V2"])
    >>> width(made.normal), depth(made.normal)
    (1.5, 5)
    """
    return _changed(architecture, lambda op, source, node, slot: (op, node - 2 + slot))


def variants_of(
    architecture: Architecture, count: int, *, kind: Kind = "connections", seed: int = 0, name: str = "C"
) -> list[Variant]:
    """So many different random variants, from the narrowest and deepest to the widest and shallowest.

    They are called C1, C2, ... in that order (those of operations, which are all of one shape, in the order of the draws).
    None of them is the architecture itself.

    >>> from foresee.spaces.darts.named import NAMED
    >>> [str(one) for one in variants_of(NAMED["DARTS_V2"], 4)]
    ['C1 (1.5c, 4)', 'C2 (2c, 5)', 'C3 (2c, 4)', 'C4 (3.5c, 3)']
    """
    whole("variants", count)
    makers: dict[str, Callable[[Architecture, random.Random], Architecture]] = {
        "connections": random_connections,
        "operations": random_operations,
    }
    if kind not in makers:
        raise UnknownNameError("kind of variants", kind, makers)
    rng, found, seen = stream(seed, "variants", kind), list[Architecture](), {architecture}
    for _ in range(TRIED * count):
        made = makers[kind](architecture, rng)
        if made not in seen:
            seen.add(made)
            found.append(made)
        if len(found) == count:
            break
    else:
        raise InputError(f"{count} variants: only {len(found)} different ones were found; ask for fewer")
    if kind == "connections":
        found.sort(key=lambda one: (width(one.normal), -depth(one.normal)))
    return [Variant(f"{name}{place}", one) for place, one in enumerate(found, 1)]


def family(architecture: Architecture, count: int, *, name: str = "cell", seed: int = 0) -> list[Variant]:
    """The cell and so many variants: its widest and its deepest, of the rest one in four with other operations.

    Random connections are chosen that they span the widths; C1 is the narrowest. O1, O2, ... have the cell's connections.

    >>> from foresee.spaces.darts.named import NAMED
    >>> print(*family(NAMED["DARTS_V2"], 6, name="DARTS_V2"), sep=", ")
    DARTS_V2 (3.5c, 3), WIDE (4c, 2), DEEP (1.5c, 5), C1 (1.5c, 4), C2 (2.5c, 5), C3 (3.5c, 3), O1 (3.5c, 3)
    """
    whole("variants", count)
    ends = [Variant("WIDE", widest(architecture)), Variant("DEEP", deepest(architecture))]
    ends = [one for one in ends if one.architecture != architecture][:count]
    left = count - len(ends)
    others = left // 4
    drawn = variants_of(architecture, DRAWN * (left - others), seed=seed) if left > others else []
    new = [one for one in drawn if one.architecture not in {end.architecture for end in ends}]
    many = spanning(new, left - others) if left - others > 1 else new[: left - others]
    connected = [Variant(f"C{place}", one.architecture) for place, one in enumerate(many, 1)]
    operated = variants_of(architecture, others, kind="operations", seed=seed, name="O") if others else []
    return [Variant(name, architecture), *ends, *connected, *operated]


def published(architecture: Architecture, kind: Kind, seed: int) -> Architecture:
    """The variant that the thesis' own code draws from numpy's first generator under this seed.

    Of operations: edge by edge, the normal cell first. Of connections: edge by edge, each in the normal and then in the
    reduction cell.
    """
    legacy = np.random.RandomState(seed)  # it drew the printed variants
    if kind == "operations":
        return _changed(architecture, lambda op, source, node, slot: (OPS[legacy.randint(len(OPS))], source))
    drawn: dict[str, list[Edge]] = {one: [] for one in KINDS}
    for place in range(max(len(architecture[one].edges) for one in KINDS)):
        for one in KINDS:
            edges = architecture[one].edges
            if place < len(edges):
                drawn[one].append((edges[place][0], int(legacy.randint(2 + place // 2))))
    return Architecture(**{one: Cell(tuple(drawn[one]), architecture[one].concat) for one in KINDS})


def spanning(cells: Iterable[Variant], count: int) -> list[Variant]:
    """So many of these that span their widths evenly, from the narrowest to the widest.

    >>> from foresee.spaces.darts.named import NAMED
    >>> [one.name for one in spanning(variants_of(NAMED["DARTS_V2"], 9), 3)]
    ['C1', 'C5', 'C9']
    """
    ordered: Sequence[Variant] = sorted(cells, key=lambda one: (one.width, -one.depth))
    whole("cells", count, least=2)
    if count >= len(ordered):
        return list(ordered)
    return [ordered[round(place * (len(ordered) - 1) / (count - 1))] for place in range(count)]


def _changed(architecture: Architecture, change: Callable[[str, int, int, int], tuple[str, int]]) -> Architecture:
    """Every edge replaced by `change(operation, source, node, slot)`, slot 0 or 1 of its node; normal cell first."""
    cells = {}
    for kind in KINDS:
        cell: Cell = architecture[kind]
        edges = (change(op, source, node, slot) for node, pair in cell.nodes for slot, (op, source) in enumerate(pair))
        cells[kind] = Cell(tuple(edges), cell.concat)
    return Architecture(**cells)

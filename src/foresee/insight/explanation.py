"""All that is cheap to know of one network, as plain values: what it is, where it stands, and where it could be better.

An `Explanation` is made by `foresee.insight.explaining.explain`; printed it is a compact table, and `save` writes one
self-contained page with its numbers beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from foresee.errors import InputError
from foresee.grid import Bad, Column, Grid, Shown, shortened
from foresee.insight.distributions import Distribution, Place
from foresee.insight.kernels import KernelSpectrum
from foresee.insight.layers import Layers
from foresee.insight.pictures import STILL, Independence, OutputCurve
from foresee.insight.standing import Standing
from foresee.insight.theory.survey import Survey
from foresee.insight.topology import Topology
from foresee.lazy import find
from foresee.quantities import format_quantity
from foresee.spaces.base import Graph
from foresee.spaces.own.boxes import Drawing

#: what the files are called where `save` is given a folder
PAGE, NUMBERS = "explain.html", "explain.json"


@dataclass(frozen=True)
class Cell:
    """A cell of an architecture: its picture, its shape, and where that lies among the cells of the space."""

    graph: Graph
    shape: Topology
    distribution: Distribution | None = None

    @property
    def place(self) -> Place | None:
        """Its place in the space, where the others are known."""
        return None if self.distribution is None else self.distribution.place(self.shape)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        spread, place = self.distribution, self.place
        return {
            "graph": asdict(self.graph),
            "shape": self.shape.to_json(),
            "distribution": None if spread is None else spread.to_json(),
            "place": None if place is None else place.to_json(),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Cell:
        """What `to_json` gave."""
        drawn = plain["graph"]
        graph = Graph(
            tuple(drawn["nodes"]),
            tuple((int(a), int(b), str(label)) for a, b, label in drawn["edges"]),
            drawn["title"],
            tuple(drawn["kinds"]),
            tuple((int(a), int(b)) for a, b in drawn["places"]),
        )
        spread = plain["distribution"]
        return cls(
            graph, Topology.from_json(plain["shape"]), None if spread is None else Distribution.from_json(spread)
        )


@dataclass(frozen=True)
class Explanation(Shown):
    """What was found. A part that could not be found is None (or empty), and `reasons` says why, by its name.

    Args:
        name: what the network is called.
        space: where it is from; "" where it is a network of one's own.
        architecture: its text in the space; "" without one.
        facts: plain facts for people, by label: input, data, seed, ...
        params: numbers in all parameters.
        macs: multiply-accumulates of one sample.
        cells: its cells with their shapes.
        drawing: the whole network.
        layers: what each layer costs, and how evenly it reads and is told.
        standings: every proxy with its place among others.
        others: who the others are, in words; "" where there are none.
        looked: how the network and the others were looked at for `standings`, in words.
        spectrum: of its tangent kernel.
        curve: its outputs along a circle of inputs.
        independence: of the feature maps of each layer.
        survey: what statements of the papers say.
        further: what training can add: (words, line to type).
        reasons: why a part is not there, by the part's name.
        seconds: what each part took.
    """

    name: str
    space: str = ""
    architecture: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    params: int = 0
    macs: int | None = None
    cells: tuple[Cell, ...] = ()
    drawing: Drawing | None = None
    layers: Layers | None = None
    standings: tuple[Standing, ...] = ()
    others: str = ""
    looked: str = ""
    spectrum: KernelSpectrum | None = None
    curve: OutputCurve | None = None
    independence: Independence | None = None
    survey: Survey | None = None
    further: tuple[tuple[str, str], ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    def standing(self, proxy: str) -> Standing | None:
        """What one proxy says, where it was asked."""
        return next((one for one in self.standings if one.proxy == proxy), None)

    @property
    def still(self) -> bool:
        """Whether its outputs are the same whatever goes in, as where nothing leads from inputs to outputs."""
        return self.reasons.get("output curve") == STILL

    def to_json(self) -> dict[str, Any]:
        """Plain values; `from_json` reads them."""
        parts = {key: getattr(self, key) for key in _PARTS}
        return {
            **{key: getattr(self, key) for key in ("name", "space", "architecture", "params", "macs")},
            **{key: getattr(self, key) for key in ("others", "looked")},
            **{key: [list(pair) for pair in getattr(self, key)] for key in ("facts", "further")},
            **{key: dict(getattr(self, key)) for key in ("reasons", "seconds")},
            **{key: [one.to_json() for one in getattr(self, key)] for key in ("cells", "standings")},
            **{key: None if part is None else part.to_json() for key, part in parts.items()},
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Explanation:
        """What `to_json` gave, checked at the door."""
        try:
            found: dict[str, Any] = {
                **{key: str(plain[key]) for key in ("name", "space", "architecture", "others", "looked")},
                **{key: tuple((str(a), str(b)) for a, b in plain[key]) for key in ("facts", "further")},
                **{key: dict(plain[key]) for key in ("reasons", "seconds")},
                **{key: None if plain[key] is None else kind.from_json(plain[key]) for key, kind in _PARTS.items()},
                "params": int(plain["params"]),
                "macs": None if plain["macs"] is None else int(plain["macs"]),
                "cells": tuple(map(Cell.from_json, plain["cells"])),
                "standings": tuple(map(Standing.from_json, plain["standings"])),
            }
            return cls(**found)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"this is no explanation of a network ({type(error).__name__}: {error})") from error

    def save(self, path: str | Path) -> Path:
        """Write the page, and its numbers beside it as JSON: into a folder, or under a name that ends in .html."""
        page: Path = find("foresee.report.explained", "save")(self, path)
        return page

    # -- as text --------------------------------------------------------------------------------------------------------
    @property
    def heading(self) -> str:
        """One line: what it is and what it costs."""
        macs = "" if self.macs is None else f", {format_quantity(self.macs)} MACs"
        return f"{self.name}: {format_quantity(self.params)} params{macs}"

    @property
    def remarks(self) -> list[str]:
        """What is said below the table: shapes, where to change the network, what is missing."""
        said = [f"{one.shape.title or 'cell'}: width and depth {one.shape}" + _placed(one) for one in self.cells[:4]]
        if self.layers is not None:
            said += [f"change here? {describe(self.layers, one.name)}" for one in self.layers.worst()]
        if self.spectrum is not None:
            kappa = "none" if self.spectrum.condition is None else f"{self.spectrum.condition:.4g}"
            said.append(f"tangent kernel of {self.spectrum.samples} samples: condition number {kappa}")
        return [*said, *(f"no {name}: {shortened(reason, 120)}" for name, reason in self.reasons.items())]

    def _grid(self) -> Grid:
        placed = any(one.percentile is not None for one in self.standings)
        columns = [Column("proxy", words=True), Column("value"), Column("better", words=True)]
        columns += [Column("median"), Column("percentile")] if placed else []
        return Grid(columns, [_row(one, placed) for one in self.standings], self.heading, self.remarks)

    def __str__(self) -> str:
        return str(self._grid())


_PARTS: dict[str, Any] = {
    "drawing": Drawing,
    "layers": Layers,
    "spectrum": KernelSpectrum,
    "curve": OutputCurve,
    "independence": Independence,
    "survey": Survey,
}


def describe(layers: Layers, name: str) -> str:
    """A layer that is uneven, in words: which side, and what is lost by it.

    >>> from foresee.insight.layers import Layer
    >>> rows = [Layer("a", "Linear", 6, 6, 4.0, 0.9, 0.9), Layer("b", "Linear", 6, 6, 4.0, 0.9, 0.0)]
    >>> describe(Layers(tuple(rows)), "b")
    'b is told nothing: its output does not matter (costs 50 % of what the default score could be)'
    """
    one = next(row for row in layers.seen if row.name == name)
    said = []
    if one in layers.uneven("reads"):
        said.append(f"reads unevenly ({one.reads:.2g})")
    if one.told == 0:
        said.append("is told nothing: its output does not matter")
    elif one in layers.uneven("told"):
        said.append(f"is told unevenly ({one.told:.2g})")
    lost = f"costs {100 * layers.share_lost(one):.2g} % of what the default score could be"
    return f"{name} {' and '.join(said) or 'is even'} ({lost})"


def _placed(cell: Cell) -> str:
    return "" if cell.place is None or cell.distribution is None else f"; {cell.place} ({cell.distribution.words})"


def _row(one: Standing, placed: bool) -> list[str]:
    value = Bad(one.status) if one.value is None else f"{one.value:.5g}"
    place = "–" if one.percentile is None else f"{one.percentile:.1f}"
    median = "–" if one.median is None else f"{one.median:.4g}"
    return [one.proxy, value, one.direction, *([median, place] if placed else [])]

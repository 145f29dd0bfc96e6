"""Two explanations side by side: what differs, as plain values.

Cells edge by edge, layers by name, facts by label, proxies by value. What is equal is said to be equal and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foresee.grid import Bad, Column, Grid, Shown
from foresee.insight.differences import CellDifference, graphs_compared
from foresee.insight.explanation import Explanation
from foresee.insight.layers import Layer
from foresee.insight.standing import Standing


@dataclass(frozen=True)
class Pair(Shown):
    """Two networks.

    Args:
        first: one.
        second: the other.
        cells: both cell by cell; empty where neither has any.
        facts: labels of plain facts whose texts differ.
        layers: names of layers that only one has, or that cost something else in the other; a pair for both sides.
        proxies: names of those that have another value or status.
    """

    first: Explanation
    second: Explanation
    cells: tuple[CellDifference, ...]
    facts: frozenset[str]
    layers: tuple[frozenset[str], frozenset[str]]
    proxies: frozenset[str]

    def to_json(self) -> dict[str, Any]:
        """Plain values: both, and what differs."""
        return {
            "first": self.first.to_json(),
            "second": self.second.to_json(),
            "differs": {
                "cells": [one.to_json() for one in self.cells],
                "facts": sorted(self.facts),
                "layers": [sorted(one) for one in self.layers],
                "proxies": sorted(self.proxies),
            },
        }

    @property
    def heading(self) -> str:
        """What both are and cost, a line each."""
        return f"{self.first.heading}\n{self.second.heading}"

    @property
    def remarks(self) -> list[str]:
        """What differs, in lines."""
        said = [str(one) for one in self.cells if one.only_first or one.only_second or one.changed]
        if self.cells and not said:
            said = ["the cells are the same, edge by edge"]
        for one, names in zip((self.first, self.second), self.layers, strict=True):
            said += [f"{one.name}: {len(names)} layers that the other has not, or not so"] if names else []
        return "\n".join(said).splitlines()

    def _grid(self) -> Grid:
        columns = [Column("proxy", words=True)]
        for _ in (self.first, self.second):
            columns += [Column("value"), Column("percentile")]
        names = dict.fromkeys(one.proxy for each in (self.first, self.second) for one in each.standings)
        rows = [
            [name, *(cell for each in (self.first, self.second) for cell in _pair_of_cells(each.standing(name)))]
            for name in names
        ]
        return Grid(
            [*columns, Column("", words=True)], [[*row, self._mark(row[0])] for row in rows], self.heading, self.remarks
        )

    def _mark(self, proxy: str) -> str:
        """Which of the two is better by a proxy."""
        one, two = self.first.standing(proxy), self.second.standing(proxy)
        if one is None or two is None or one.value is None or two.value is None or one.value == two.value:
            return ""
        return "first" if (one.value > two.value) == (one.direction == "higher") else "second"

    def __str__(self) -> str:
        return str(self._grid())


def side_by_side(first: Explanation, second: Explanation) -> Pair:
    """What differs between two networks."""
    ours, theirs = dict(first.facts), dict(second.facts)
    scores = [{one.proxy: (one.value, one.status) for one in each.standings} for each in (first, second)]
    return Pair(
        first,
        second,
        graphs_compared([one.graph for one in first.cells], [one.graph for one in second.cells]),
        frozenset(label for label in ours.keys() | theirs.keys() if ours.get(label) != theirs.get(label)),
        _layers(first, second),
        frozenset(name for name in scores[0].keys() | scores[1].keys() if scores[0].get(name) != scores[1].get(name)),
    )


def _layers(first: Explanation, second: Explanation) -> tuple[frozenset[str], frozenset[str]]:
    ours, theirs = (
        {one.name: _look(one) for one in (each.layers.rows if each.layers else ())} for each in (first, second)
    )
    new = frozenset(name for name, look in ours.items() if theirs.get(name) != look)
    other = frozenset(name for name, look in theirs.items() if ours.get(name) != look)
    return new, other


def _look(one: Layer) -> tuple[str, int, int]:
    return one.kind, one.params, one.macs


def _pair_of_cells(one: Standing | None) -> tuple[str, str]:
    if one is None:
        return "–", "–"
    place = "–" if one.percentile is None else f"{one.percentile:.1f}"
    return Bad(one.status) if one.value is None else f"{one.value:.5g}", place

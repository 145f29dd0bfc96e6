"""Two explanations side by side: what differs, as plain values.

Cells edge by edge, layers by name, facts by label, proxies by value. What is equal is said to be equal and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foresee.insight.differences import CellDifference, Difference, graphs_compared
from foresee.insight.explanation import Explanation
from foresee.insight.layers import Layer


@dataclass(frozen=True)
class Pair:
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

    def __str__(self) -> str:
        cells = str(Difference(self.cells, same=self.first.architecture == self.second.architecture))
        return "\n".join([f"{self.first.name} beside {self.second.name}: {cells}"])


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

"""What an architecture is made of, as two views for a rank model: its parts, and the ways from its inputs to its outputs.

Both read the graphs that a space draws and nothing else, so they cost no network. Graphs are told apart by their place in
the list (a title may say how wide or deep this one is), and what no way from an input to an output passes is left out: it
changes no output. Inputs are the nodes whose label no edge enters in any of the graphs at hand, outputs those that none
leaves; where labels do not tell, the nodes that no edge enters (leaves) in the graph itself.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresee.spaces.base import Graph

Array = NDArray[np.float64]
#: what a column counts, and how often, of one architecture
Counts = Mapping[tuple[object, ...], float]

#: steps that hand on what they get: a way is no longer for them
PASSED_ON = frozenset({"skip", "skip_connect", "identity"})
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def view_of_parts(graphs: Iterable[Sequence[Graph]]) -> Array:
    """(architectures, parts): how often each part occurs in the graphs of an architecture, centred and scaled.

    A part is the label of a node or an edge, or an edge together with what it joins; the numbers in the labels of nodes,
    such as widths, are read as numbers too, node by node (their logarithms). Labels, joined ones and numbers weigh the same,
    however many there are of each. A space without graphs, or with one graph only, has no parts.
    """
    return _view(graphs, (_labels, _joined, _numbers))


def view_of_ways(graphs: Iterable[Sequence[Graph]]) -> Array:
    """(architectures, numbers): what one meets on the ways from input to output, centred and scaled.

    How many ways there are, the longest, the shortest and the mean length; and for each operation how often it occurs on the
    way that has most of it, on the one that has least, in the mean, and on all ways together. Counts that multiply
    (of ways, on all ways) enter by their logarithm. Found node by node, so that there may be any number of ways.
    """
    return _view(graphs, (_ways,))


# -- the part of a graph that counts ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Live:
    """A graph without what reaches no output: `ends` are its inputs and its outputs among the `nodes`, all in order."""

    graph: Graph
    nodes: tuple[int, ...]
    edges: tuple[tuple[int, int, str], ...]
    ends: tuple[frozenset[int], frozenset[int]]
    by_edges: bool  #: whether operations stand on edges in this kind of graph; else they are the nodes


def _live(drawn: Sequence[Sequence[Graph]]) -> list[list[_Live]]:
    """The living part of all graphs: of each architecture, in the order of its list."""
    entered, left, named = set(), set(), set()
    for graphs in drawn:
        for place, graph in enumerate(graphs):
            for source, target, edge in graph.edges:
                left.add((place, graph.nodes[source]))
                entered.add((place, graph.nodes[target]))
                if edge:
                    named.add(place)

    def of(place: int, graph: Graph) -> _Live:
        every = range(len(graph.nodes))
        inputs = _ends(place, graph, entered, {target for _, target, _ in graph.edges})
        outputs = _ends(place, graph, left, {source for source, _, _ in graph.edges})
        forward, backward = set(inputs), set(outputs)
        for source, target, _ in sorted(graph.edges):
            if source in forward:
                forward.add(target)
        for source, target, _ in sorted(graph.edges, key=lambda edge: -edge[1]):
            if target in backward:
                backward.add(source)
        alive = forward & backward
        edges = tuple(sorted(edge for edge in graph.edges if edge[0] in alive and edge[1] in alive))
        return _Live(graph, tuple(node for node in every if node in alive), edges, (inputs, outputs), place in named)

    return [[of(place, graph) for place, graph in enumerate(graphs)] for graphs in drawn]


def _ends(place: int, graph: Graph, touched: set[tuple[int, str]], inside: set[int]) -> frozenset[int]:
    by_label = [node for node, label in enumerate(graph.nodes) if (place, label) not in touched]
    return frozenset(by_label or [node for node in range(len(graph.nodes)) if node not in inside])


# -- what is counted of an architecture ---------------------------------------------------------------------------------
def _labels(graphs: Sequence[_Live]) -> Counts:
    found: Counter[tuple[object, ...]] = Counter()
    for place, one in enumerate(graphs):
        found.update((place, "node", one.graph.nodes[node]) for node in one.nodes)
        found.update((place, "edge", edge) for _, _, edge in one.edges if edge)
    return found


def _joined(graphs: Sequence[_Live]) -> Counts:
    found: Counter[tuple[object, ...]] = Counter()
    for place, one in enumerate(graphs):
        nodes = one.graph.nodes
        found.update((place, nodes[source], edge, nodes[target]) for source, target, edge in one.edges)
    return found


def _numbers(graphs: Sequence[_Live]) -> Counts:
    """Numbers in the labels of nodes; a label that is nothing but a number is a name."""
    return {
        (place, node, which): math.log1p(float(number))
        for place, one in enumerate(graphs)
        for node, label in enumerate(one.graph.nodes)
        for which, number in enumerate(_NUMBER.findall(label))
        if number != label
    }


def _ways(graphs: Sequence[_Live]) -> Counts:
    found: dict[tuple[object, ...], float] = {}
    for place, one in enumerate(graphs):
        starts, steps = _passed(one)
        labels = sorted({label for passed in (*starts.values(), *steps) for label in passed})
        # One column for each label, and one for the length, which counts all of them.
        columns = [(place, label) for label in labels] + [(place,)]
        content = {passed: _content(passed, labels) for passed in {*starts.values(), *steps}}
        ways = _Ways.none(len(columns))
        at = {node: _Ways.one(content[passed]) for node, passed in starts.items()}
        for (source, target, _), passed in zip(one.edges, steps, strict=True):
            at[target] = at[source].then(content[passed]).beside(at.get(target, ways))
        for node in sorted(one.ends[1] & set(at)):
            ways = ways.beside(at[node])
        found[place, "ways"] = float(np.logaddexp(0, ways.number))
        if ways.number == -math.inf:
            continue
        with np.errstate(divide="ignore"):
            every = np.logaddexp(0, ways.number + np.log(ways.mean))
        for kind, numbers in {"most": ways.most, "least": ways.least, "mean": ways.mean, "all": every}.items():
            found |= {(*column, kind): float(value) for column, value in zip(columns, numbers, strict=True)}
    return found


def _passed(one: _Live) -> tuple[dict[int, tuple[str, ...]], list[tuple[str, ...]]]:
    """The labels that a way meets: at each living input (its name, where there are several), and along each edge."""
    nodes, (inputs, outputs) = one.graph.nodes, one.ends
    starts: dict[int, tuple[str, ...]] = {
        node: (nodes[node],) if len(inputs) > 1 else () for node in one.nodes if node in inputs
    }
    if one.by_edges:
        return starts, [(edge,) if edge and edge not in PASSED_ON else () for _, _, edge in one.edges]
    return starts, [() if target in outputs else (nodes[target],) for _, target, _ in one.edges]


def _content(passed: tuple[str, ...], labels: Sequence[str]) -> Array:
    return np.array([*(float(passed.count(label)) for label in labels), float(len(passed))])


@dataclass(frozen=True, eq=False)
class _Ways:
    """All ways to a node: the logarithm of their number, and of each content the most, the least and the mean on a way."""

    number: float
    most: Array
    least: Array
    mean: Array

    @classmethod
    def none(cls, contents: int) -> _Ways:
        return cls(-math.inf, np.full(contents, -np.inf), np.full(contents, np.inf), np.zeros(contents))

    @classmethod
    def one(cls, content: Array) -> _Ways:
        return cls(0.0, content, content, content)

    def then(self, content: Array) -> _Ways:
        """The same ways, one step longer."""
        return _Ways(self.number, self.most + content, self.least + content, self.mean + content)

    def beside(self, other: _Ways) -> _Ways:
        """These ways and the others."""
        number = float(np.logaddexp(self.number, other.number))
        share = math.exp(self.number - number) if number > -math.inf else 0.0
        mean = share * self.mean + (1 - share) * other.mean
        return _Ways(number, np.maximum(self.most, other.most), np.minimum(self.least, other.least), mean)


# -- from counts to views -----------------------------------------------------------------------------------------------
def _view(graphs: Iterable[Sequence[Graph]], kinds: Sequence[Callable[[Sequence[_Live]], Counts]]) -> Array:
    live = _live(list(graphs))
    groups = [standardised([kind(one) for one in live]) for kind in kinds]
    groups = [group for group in groups if group.shape[1]]
    return np.concatenate(groups, axis=1) / math.sqrt(len(groups)) if groups else np.empty((len(live), 0))


def standardised(counts: Sequence[Counts]) -> Array:
    """(architectures, columns): each count centred, of deviation 1, and all together of mean square 1 a row.

    What is the same for all says nothing and is left out; so is what all have alike but one, for it says nothing of others.
    """
    found = []
    for key in sorted({key for one in counts for key in one}, key=repr):
        column = np.array([one.get(key, 0.0) for one in counts])
        if (column != np.median(column)).sum() > 1 and np.ptp(column) > 1e-12:
            found.append((column - column.mean()) / column.std())
    return np.stack(found, axis=1) / math.sqrt(len(found)) if found else np.empty((len(counts), 0))

"""Graphs whose nodes have places, drawn as SVG: streams side by side, each a row, with what passes between them.

A row's edges between neighbours are straight; longer ones are arcs outside the rows, above the first and below the last, the
shortest nearest. Edges between rows go down and up between their columns. Colours and nodes are those of `graphs`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foresee.report.shapes import NODE, height, node, pill, reach, text_width
from foresee.spaces.base import Graph

#: between two rows, and between the widest nodes of two columns
_ROWS, _COLUMNS = 104.0, 34.0
#: between two edges at one side of a node
_APART = 5.0


def draw_placed(
    graph: Graph, colours: Mapping[str, int], *, same: frozenset[tuple[int, int, str]] = frozenset()
) -> tuple[str, float, float]:
    """The inside of an `svg` element, its width and its height."""
    widths = [max(NODE, text_width(label) + 16) for label in graph.nodes]
    centres = _columns(graph, widths)
    arcs = _lanes(graph)
    last = max(row for _, row in graph.places)
    above = reach(max([0, *(lane for lane in arcs.values() if lane > 0)])) + 4
    below = reach(max([0, *(-lane for lane in arcs.values() if lane < 0)])) + 4
    spots = [(centres[column], above + row * _ROWS) for column, row in graph.places]
    ports = _ports(graph, arcs, spots)
    lines, pills = [], []
    for number, edge in enumerate(graph.edges):
        path, head, spot = _route(graph, number, arcs.get(number), spots, widths, ports, last)
        look = "plain same" if edge in same else "plain"
        lines.append(f'<g class="edge {look}"><path d="{path}"/><path class="head" d="{head}"/></g>')
        if edge[2]:
            pills.append(pill(edge[2], spot, f"pill {look}"))
    nodes = [
        node(label, spots[i], widths[i], f"op{colours[graph.kinds[i]]}" if graph.kinds[i] in colours else "")
        for i, label in enumerate(graph.nodes)
    ]
    width = max(spot[0] + widths[i] / 2 for i, spot in enumerate(spots)) + 6
    return "".join(lines + pills + nodes), width, above + last * _ROWS + below


def _columns(graph: Graph, widths: Sequence[float]) -> dict[int, float]:
    """The middle of each column, as wide as its widest node."""
    widest: dict[int, float] = {}
    for (column, _), width in zip(graph.places, widths, strict=True):
        widest[column] = max(widest.get(column, 0.0), width)
    found, left = {}, 6.0
    for column in sorted(widest):
        found[column] = left + widest[column] / 2
        left += widest[column] + _COLUMNS
    return found


def _lanes(graph: Graph) -> dict[int, int]:
    """The lane of each edge that needs one: those of the first row above it, those of the last below."""
    last = max(row for _, row in graph.places)
    found: dict[int, int] = {}
    taken: dict[int, list[tuple[int, int, int]]] = {}
    by_span = sorted(
        range(len(graph.edges)), key=lambda i: graph.places[graph.edges[i][1]][0] - graph.places[graph.edges[i][0]][0]
    )
    for number in by_span:
        (start, row), (end, other) = (graph.places[at] for at in graph.edges[number][:2])
        between = any(start < column < end for column, there in graph.places if there == row)
        if row != other or not between:
            continue
        side = -1 if row == last and last else 1
        inside = [lane for first, then, lane in taken.get(side, []) if first < end and start < then]
        lane = 1 + max(inside, default=0)
        taken.setdefault(side, []).append((start, end, lane))
        found[number] = side * lane
    return found


def _ports(
    graph: Graph, arcs: Mapping[int, int], spots: Sequence[tuple[float, float]]
) -> dict[tuple[int, bool], float]:
    """Where an arc leaves (False) and arrives (True): beside each other, so that nested arcs do not cross."""
    ports: dict[tuple[int, bool], float] = {}
    for at, (centre, _) in enumerate(spots):
        arriving = sorted((abs(lane), n) for n, lane in arcs.items() if graph.edges[n][1] == at)
        leaving = sorted(((abs(lane), n) for n, lane in arcs.items() if graph.edges[n][0] == at), reverse=True)
        slots = [(n, True) for _, n in arriving] + [(n, False) for _, n in leaving]
        for place, key in enumerate(slots):
            ports[key] = centre + (place - (len(slots) - 1) / 2) * _APART
    return ports


def _route(
    graph: Graph,
    number: int,
    lane: int | None,
    spots: Sequence[tuple[float, float]],
    widths: Sequence[float],
    ports: Mapping[tuple[int, bool], float],
    last: int,
) -> tuple[str, str, tuple[float, float]]:
    """Path of an edge, its arrow head, and the spot for its name."""
    start, end, _ = graph.edges[number]
    (x1, y1), (x2, y2) = spots[start], spots[end]
    if lane is not None:
        side = 1 if lane > 0 else -1
        x1, x2 = ports[number, False], ports[number, True]
        edge = y1 - side * NODE / 2
        top = y1 + height(lane)
        control = edge + (top - edge) / 0.75
        tip = edge - side * 2
        path = f"M{x1:.1f} {edge:.1f}C{x1:.1f} {control:.1f} {x2:.1f} {control:.1f} {x2:.1f} {tip - side * 5:.1f}"
        return path, f"M{x2:.1f} {tip:.1f}l-3.6 {-7 * side}h7.2z", ((x1 + x2) / 2, top)
    if y1 == y2:
        x1, x2 = x1 + widths[start] / 2, x2 - widths[end] / 2 - 2
        return f"M{x1:.1f} {y1:.1f}H{x2 - 5:.1f}", f"M{x2:.1f} {y2:.1f}l-7 -3.6v7.2z", ((x1 + x2) / 2, y1)
    down = 1 if y2 > y1 else -1
    x2 += -_APART if x2 > x1 else 0.0
    leaves, tip = y1 + down * NODE / 2, y2 - down * (NODE / 2 + 2)
    middle = (leaves + tip) / 2
    path = f"M{x1:.1f} {leaves:.1f}C{x1:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {tip - down * 5:.1f}"
    return path, f"M{x2:.1f} {tip:.1f}l-3.6 {-7 * down}h7.2z", ((x1 + x2) / 2, middle)

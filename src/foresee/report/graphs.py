"""Cells drawn as SVG, by hand: nodes in a row in topological order, edges as arcs above and below it.

An edge between neighbours is a straight line; longer ones take lanes, the shortest nearest to the row, so that nested arcs
never cross. Each operation has one colour in the whole page and its name on every edge, so that colour is a help and
never the only sign. Colours are CSS variables (`--op-0` to `--op-9`) of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from foresee.errors import InputError
from foresee.report.placed import draw_placed
from foresee.report.shapes import NODE, height, node, pill, reach, text_width
from foresee.spaces.base import Graph, Space
from foresee.spaces.find import get

#: how many operation colours the page has; further operations start over and are told apart by their names
COLOURS = 10
#: operations that let nothing through: drawn as a broken line
NOTHING = frozenset({"none", "zero", "zeroize"})

_SLOT = 8.0  # distance between two arcs at one node


@dataclass(frozen=True)
class Cells:
    """Pictures of architectures: graphs by text, or the reason why there are none."""

    graphs: Mapping[str, tuple[Graph, ...]]
    reason: str = ""

    @property
    def operations(self) -> dict[str, int]:
        """Every operation in the pictures with the number of its colour."""
        return palette(graph for graphs in self.graphs.values() for graph in graphs)


@dataclass(frozen=True)
class Arc:
    """Where an edge runs: lane 0 is the row itself, positive lanes are above it, negative ones below."""

    start: int
    end: int
    label: str
    lane: int


def load_cells(settings: Mapping[str, Any], texts: Iterable[str], space: Space[Any] | None = None) -> Cells:
    """Graphs of architectures from the run's space.

    Only registered spaces are loaded: a report never imports code because a run names it. For an own space hand in
    `space` itself.
    """
    name = settings.get("space")
    try:
        if space is None:
            if not isinstance(name, str) or ":" in name:
                raise InputError("it is not a registered one, and a report loads no other code")
            import foresee.spaces  # noqa: F401 - fills the registry

            chosen = settings.get("space_settings")
            space = get(name, **(dict(chosen) if isinstance(chosen, Mapping) else {}))
        graphs = {text: tuple(space.graph(space.parse(text))) for text in texts}
    except Exception as error:  # a plug-in may raise anything, and a report must come out all the same
        return Cells({}, f"the space {name} could not be loaded here: {error}")
    drawn = {text: found for text, found in graphs.items() if any(graph.nodes for graph in found)}
    return Cells(drawn, "" if drawn or not graphs else f"the space {name} has no picture of its architectures")


def palette(graphs: Iterable[Graph]) -> dict[str, int]:
    """Colour numbers of the operations: names of edges, or of inner nodes where edges have none; in order of name."""
    names = {name for graph in graphs for name in operations(graph)}
    return {name: i % COLOURS for i, name in enumerate(sorted(names, key=lambda n: (is_nothing(n), n)))}


def is_nothing(operation: str) -> bool:
    """Whether the operation lets nothing through."""
    return operation.lower() in NOTHING


def operations(graph: Graph) -> list[str]:
    """Operations of a graph in drawing order, one for each edge (or inner node) that has one."""
    if graph.kinds:
        return [kind for kind in graph.kinds if kind]
    on_edges = [label for _, _, label in graph.edges if label]
    return on_edges or (list(graph.nodes[1:-1]) if graph.edges else [])


def lanes(graph: Graph) -> list[Arc]:
    """A lane for each edge: short edges first, each in the lowest lane, above or below, where it meets no other.

    An arc lies outside all arcs that it spans, and beside those that it only touches.
    """
    taken: dict[int, list[Arc]] = {1: [], -1: []}
    straight: set[tuple[int, int]] = set()
    found: dict[int, Arc] = {}
    for index in sorted(range(len(graph.edges)), key=lambda i: _span(graph.edges[i])):
        start, end, label = graph.edges[index]
        if end - start == 1 and (start, end) not in straight:
            straight.add((start, end))
            found[index] = Arc(start, end, label, 0)
            continue
        free = {
            side: 1 + max((abs(a.lane) for a in arcs if _overlap(a, start, end)), default=0)
            for side, arcs in taken.items()
        }
        side = min(free, key=lambda s: (free[s], -s))
        found[index] = Arc(start, end, label, side * free[side])
        taken[side].append(found[index])
    return [found[i] for i in range(len(graph.edges))]


def draw(graph: Graph, colours: Mapping[str, int], *, name: str, title: str = "", against: Graph | None = None) -> str:
    """The graph as an `svg` element for a page.

    `name` makes its ids unique, `title` is its short description. Edges that are the same in `against` step back, so
    that the differences are seen.
    """
    same = frozenset(against.edges) if against is not None else frozenset()
    inside, width, high = (
        _in_a_row(graph, colours, same) if not graph.places else draw_placed(graph, colours, same=same)
    )
    words = "; ".join(_sentence(graph, edge) for edge in graph.edges)
    return (
        f'<svg class="cell" role="img" viewBox="0 0 {width:.0f} {high:.0f}" '
        f'style="min-width:{0.62 * width:.0f}px;max-width:{1.3 * width:.0f}px" '
        f'aria-labelledby="{escape(name)}-t {escape(name)}-d">'
        f'<title id="{escape(name)}-t">{escape(title or graph.title or "cell")}</title>'
        f'<desc id="{escape(name)}-d">{escape(words)}</desc>{inside}</svg>'
    )


def _in_a_row(
    graph: Graph, colours: Mapping[str, int], same: frozenset[tuple[int, int, str]]
) -> tuple[str, float, float]:
    """The inside of the element, its width and its height."""
    arcs = lanes(graph)
    widths = _node_widths(graph, arcs)
    centres = _centres(graph, arcs, widths)
    above, below = (reach(max([0, *(side * arc.lane for arc in arcs)])) for side in (1, -1))
    width = centres[-1] + widths[-1] / 2 + 6 if centres else 0.0
    row = above + 4
    ports = _ports(arcs, centres)
    lines, pills = [], []
    for number, arc in enumerate(arcs):
        look = f"op{colours[arc.label]}" if arc.label in colours else "plain"
        look += " nothing" if is_nothing(arc.label) else ""
        look += " same" if (arc.start, arc.end, arc.label) in same else ""
        path, head, spot = _route(arc, number, centres, widths, ports, row)
        lines.append(f'<g class="edge {look}"><path d="{path}"/><path class="head" d="{head}"/></g>')
        if arc.label:
            pills.append(pill(arc.label, spot, f"pill {look}"))
    by_nodes = not any(arc.label for arc in arcs)
    kinds = graph.kinds or (graph.nodes if by_nodes else ("",) * len(graph.nodes))
    nodes = [
        node(label, (centres[i], row), widths[i], f"op{colours[kinds[i]]}" if kinds[i] in colours else "")
        for i, label in enumerate(graph.nodes)
    ]
    return "".join(lines + pills + nodes), width, above + below + 8


# -- geometry -------------------------------------------------------------------------------------------------------------
def _span(edge: tuple[int, int, str]) -> tuple[int, int]:
    return edge[1] - edge[0], edge[0]


def _overlap(arc: Arc, start: int, end: int) -> bool:
    return arc.start < end and start < arc.end


def _node_widths(graph: Graph, arcs: Sequence[Arc]) -> list[float]:
    """Wide enough for the name and for the arcs on the busier side."""
    widths = []
    for i, label in enumerate(graph.nodes):
        busy = max(sum(i in (a.start, a.end) and a.lane * side > 0 for a in arcs) for side in (1, -1))
        widths.append(max(NODE, text_width(label) + 16, _SLOT * (busy + 1)))
    return widths


def _centres(graph: Graph, arcs: Sequence[Arc], widths: Sequence[float]) -> list[float]:
    """Middles of the nodes: neighbours stand as far apart as the name on the line between them asks for."""
    between = {a.start: text_width(a.label) + 12 + 28 if a.label else 32.0 for a in arcs if a.lane == 0}
    centres: list[float] = []
    for i, width in enumerate(widths):
        left = 6.0 if not i else centres[-1] + widths[i - 1] / 2 + between.get(i - 1, 24.0)
        centres.append(left + width / 2)
    return centres


def _ports(arcs: Sequence[Arc], centres: Sequence[float]) -> dict[tuple[int, bool], float]:
    """Where arc `number` leaves (False) and arrives (True): spread over the node so that nested arcs do not cross."""
    ports: dict[tuple[int, bool], float] = {}
    for at, centre in enumerate(centres):
        for side in (1, -1):
            here = [(n, a) for n, a in enumerate(arcs) if a.lane * side > 0]
            arriving = sorted((a.end - a.start, n) for n, a in here if a.end == at)
            leaving = sorted(((a.end - a.start, n) for n, a in here if a.start == at), reverse=True)
            slots = [(n, True) for _, n in arriving] + [(n, False) for _, n in leaving]
            for i, key in enumerate(slots):
                ports[key] = centre + (i - (len(slots) - 1) / 2) * _SLOT
    return ports


def _route(
    arc: Arc,
    number: int,
    centres: Sequence[float],
    widths: Sequence[float],
    ports: Mapping[tuple[int, bool], float],
    row: float,
) -> tuple[str, str, tuple[float, float]]:
    """Path of an edge, its arrow head, and the spot for its name."""
    if arc.lane == 0:
        x1, x2 = centres[arc.start] + widths[arc.start] / 2, centres[arc.end] - widths[arc.end] / 2 - 2
        head = f"M{x2:.1f} {row:.1f}l-7 -3.6v7.2z"
        return f"M{x1:.1f} {row:.1f}H{x2 - 5:.1f}", head, ((x1 + x2 - 5) / 2, row)
    side = 1 if arc.lane > 0 else -1
    x1, x2 = ports[number, False], ports[number, True]
    y1 = row - side * NODE / 2
    y2 = y1 - side * 2
    top = row + height(arc.lane)
    # A cubic curve reaches three quarters of the way to control points of equal height.
    control = y1 + (top - y1) / 0.75
    path = f"M{x1:.1f} {y1:.1f}C{x1:.1f} {control:.1f} {x2:.1f} {control:.1f} {x2:.1f} {y2 - side * 5:.1f}"
    return path, f"M{x2:.1f} {y2:.1f}l-3.6 {-7 * side}h7.2z", ((x1 + x2) / 2, top)


def _sentence(graph: Graph, edge: tuple[int, int, str]) -> str:
    start, end, label = edge
    return f"{graph.nodes[start]} to {graph.nodes[end]}" + (f" by {label}" if label else "")

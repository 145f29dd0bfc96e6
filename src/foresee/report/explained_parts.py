"""Two pieces of the page of an explanation: cells by width and depth, and the table of layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from foresee.insight.distributions import Distribution
from foresee.insight.explanation import Explanation, describe
from foresee.insight.layers import Layer, Layers
from foresee.insight.topology import Topology

#: layers of a table that is shown at once; of more, those by which most is lost, and all of them folded away
SHOWN = 60
#: widths that have a column each; of more, so many ranges have one
WIDTHS, RANGES = 12, 10


@dataclass(frozen=True)
class Spot:
    """A width and a depth: how many cells of the space have them, and which of the networks."""

    share: float
    cells: int
    marks: tuple[int, ...]


@dataclass(frozen=True)
class Shapes:
    """How widths and depths are spread: `rows` are depths, from shallow to deep, with a spot for each of the `widths`."""

    title: str
    words: str
    widths: tuple[str, ...]
    rows: tuple[tuple[int, tuple[Spot, ...]], ...]
    shapes: tuple[Topology | None, ...]
    places: tuple[str, ...]


def shapes_of(found: Sequence[Explanation], most: int) -> list[Shapes]:
    """One for each of the first cells whose space is known."""
    made = []
    for place in range(min(max((len(one.cells) for one in found), default=0), most)):
        cells = [one.cells[place] if place < len(one.cells) else None for one in found]
        spread = next((one.distribution for one in cells if one is not None and one.distribution is not None), None)
        if spread is None:
            continue
        shapes = tuple(None if one is None else one.shape for one in cells)
        places = tuple("" if one is None or one.place is None else str(one.place) for one in cells)
        title = next((one.title for one in shapes if one is not None and one.title), "cell")
        made.append(_grid(title, spread, shapes, places))
    return made


def _grid(title: str, spread: Distribution, shapes: tuple[Topology | None, ...], places: tuple[str, ...]) -> Shapes:
    own = [None if one is None else (one.width, one.depth) for one in shapes]
    every = [*spread.counts, *filter(None, own)]
    columns, column = _columns([width for width, _ in every])
    depths = [depth for _, depth in every]
    counts: Counter[tuple[int, int]] = Counter()
    for (width, depth), cells in spread.counts.items():
        counts[column(width), depth] += cells
    marks = [None if one is None else (column(one[0]), one[1]) for one in own]
    most = max(counts.values())
    rows = tuple(
        (
            depth,
            tuple(
                Spot(
                    counts[at, depth] / most,
                    counts[at, depth],
                    tuple(i for i, m in enumerate(marks) if m == (at, depth)),
                )
                for at in range(len(columns))
            ),
        )
        for depth in range(min(depths), max(depths) + 1)
    )
    return Shapes(title, spread.words, columns, rows, shapes, places)


def _columns(widths: Sequence[float]) -> tuple[tuple[str, ...], Callable[[float], int]]:
    """What stands above the columns, and in which one a width is: one for each, or where they are many, ranges alike.

    >>> _columns([1.0, 2.5, 1.0])[0]
    ('1c', '2.5c')
    >>> heads, at = _columns([place / 10 for place in range(101)])
    >>> heads[:2], at(0.9), at(1.0), at(10.0)
    (('0–1c', '1–2c'), 0, 1, 9)
    """
    known = sorted(set(widths))
    if len(known) <= WIDTHS:
        return tuple(f"{width:.3g}c" for width in known), known.index
    low, step = known[0], (known[-1] - known[0]) / RANGES
    heads = tuple(f"{low + i * step:.2g}–{low + (i + 1) * step:.2g}c" for i in range(RANGES))
    return heads, lambda width: min(RANGES - 1, int((width - low) / step + 1e-9))


class LayersShown:
    """What the table of layers shows of one network."""

    def __init__(self, found: Layers | None, differing: frozenset[str] | None) -> None:
        self.found, self.differing = found, differing or frozenset()

    @property
    def seen(self) -> list[Layer]:
        """Those that read and are told something, in the order of the network."""
        return [] if self.found is None else list(self.found.seen)

    @property
    def first(self) -> list[Layer]:
        """Those that are shown at once."""
        if len(self.seen) <= SHOWN or self.found is None:
            return self.seen
        kept = {one.name for one in sorted(self.seen, key=lambda one: -one.loses)[:SHOWN]}
        return [one for one in self.seen if one.name in kept]

    @property
    def rest(self) -> tuple[int, int]:
        """How many modules are not in the table, and their parameters."""
        rest = [] if self.found is None else [one for one in self.found.rows if one.contributes is None]
        return len(rest), sum(one.params for one in rest)

    @property
    def worst(self) -> list[str]:
        """Where to change the network, in words."""
        return [] if self.found is None else [describe(self.found, one.name) for one in self.found.worst(5)]

    def uneven(self, what: str, one: Layer) -> bool:
        """Whether it is drawn in red."""
        return self.found is not None and getattr(one, what) < self.found.bound(what)

    def lost(self, one: Layer) -> float:
        """Per cent of what the default score could be that are lost by it."""
        return 0.0 if self.found is None else 100 * self.found.share_lost(one)

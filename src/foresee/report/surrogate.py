"""What a searcher thought of two numbers it chose by a Gaussian process: mean, uncertainty and acquisition as maps.

HNAS keeps with every step the point (log10 mu, log10 nu) it chose, the box it chose from, and what its model said there and
on a grid. The maps are those of the last step: what the model knew when the last point was chosen. What stands in a run may
be anybody's, so whatever does not make sense is not shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from foresee.report.info import Info, Measure
from foresee.report.words import number, short
from foresee.runs.record import Record
from foresee.runs.values import is_number

#: width and height of a map, and its edges: left, right (with the colours), above, below
SIZE, LEFT, RIGHT, ABOVE, BELOW = (420.0, 300.0), 44.0, 62.0, 10.0, 40.0
#: percents of colour of the least and the greatest value
FAINT, FULL = 4.0, 96.0
#: marks on an axis, at most
MARKS = 5
#: steps of the colours beside a map
COLOURS = 12
#: names of the acquisitions
GAINS = {"ei": "improvement that is expected", "ucb": "mean and 2.576 deviations"}


@dataclass(frozen=True)
class Try:
    """A point, what was evaluated there, what came of it (None: it failed), and what had been expected."""

    id: int
    x: float
    y: float
    architecture: str
    value: float | None
    mean: float | None
    deviation: float | None

    @property
    def mu(self) -> str:
        """As a power of ten."""
        return _power(self.x)

    @property
    def nu(self) -> str:
        """As a power of ten."""
        return _power(self.y)


@dataclass(frozen=True)
class Map:
    """A picture with its heading and what it shows."""

    heading: str
    note: str
    svg: str


@dataclass(frozen=True)
class Chosen:
    """All of it: the maps, the tries in their order, and which of them was the best."""

    maps: tuple[Map, ...]
    tries: tuple[Try, ...]
    best: int | None


def chosen(record: Record, info: Info) -> Chosen | None:
    """What a run that chose points has to show; None for any other.

    A model is one of merits, more being better; what it expects is shown as the run's own value.
    """
    outcomes = [step.outcome for step in record.steps if "point" in step.outcome and "box" in step.outcome]
    values = {entry.id: entry.value for entry in info.entries}
    pairs = zip(record.candidates, outcomes, strict=False)  # the last may have been chosen and not evaluated
    tries = [_try(row.id, row.architecture, values.get(row.id), outcome, info.measure.sign) for row, outcome in pairs]
    boxes = [box for outcome in outcomes if (box := _box(outcome["box"])) is not None]
    made = tuple(one for one in tries if one is not None)
    if not boxes or not made:
        return None
    best = info.best.id if info.best else None
    model = next((seen for one in reversed(outcomes) if (seen := _model(one.get("model"))) is not None), None)
    return Chosen(tuple(_maps(model, boxes[-1], made, best, info.measure)), made, best)


def _maps(model: Mapping[str, Any] | None, box: Box, tries: Sequence[Try], best: int | None, of: Measure) -> list[Map]:
    if model is None:
        note = f"Where μ and ν were tried: the fuller the colour, the more {of.name}."
        return [Map("Points", note, picture([], box, tries, best))]
    means = [[None if one is None else of.sign * one for one in row] for row in model["mean"]]
    expected = model["acquisition"] == "ei"  # kept as its logarithm, which falls without end
    gains = [
        [math.exp(min(one, 300.0)) if expected and one is not None else one for one in row] for row in model["gain"]
    ]
    return [
        Map("Mean", f"What the model expects of {of.name}.", picture(means, box, tries, best)),
        Map("Uncertainty", "Its standard deviation.", picture(model["deviation"], box, tries, best)),
        Map(
            "Acquisition",
            f"The {GAINS.get(model['acquisition'], 'gain')}: the last point was chosen where this is greatest.",
            picture(gains, box, tries, best),
        ),
    ]


# -- what was stored ------------------------------------------------------------------------------------------------------
Box = tuple[tuple[float, float], tuple[float, float]]


def _box(plain: Any) -> Box | None:
    """Lows and highs; None where they make no sense."""
    if not (isinstance(plain, list) and len(plain) == 2 and all(map(_pair, plain))):
        return None
    low, high = plain
    return (tuple(low), tuple(high)) if all(a < b for a, b in zip(low, high, strict=True)) else None


def _pair(plain: Any) -> bool:
    return isinstance(plain, list) and len(plain) == 2 and all(is_number(one) and abs(one) < 1e3 for one in plain)


def _model(plain: Any) -> Mapping[str, Any] | None:
    """Three square grids of numbers (None where there is none), and the name of the acquisition."""
    if not isinstance(plain, Mapping):
        return None
    for name in ("mean", "deviation", "gain"):
        rows = plain.get(name)
        if not (isinstance(rows, list) and 2 <= len(rows) <= 100):
            return None
        if not all(isinstance(row, list) and len(row) == len(rows) and all(map(_number, row)) for row in rows):
            return None
    return {**plain, "acquisition": str(plain.get("acquisition"))}


def _number(value: Any) -> bool:
    return value is None or (is_number(value) and abs(value) < 1e150)


def _try(name: int, architecture: str, value: float | None, outcome: Mapping[str, Any], sign: float) -> Try | None:
    if not _pair(outcome["point"]):
        return None
    here = outcome.get("model")
    here = here.get("here") if isinstance(here, Mapping) else None
    seen = here if isinstance(here, Mapping) else {}
    mean, deviation = (one if _number(one := seen.get(key)) else None for key in ("mean", "deviation"))
    x, y = map(float, outcome["point"])
    return Try(name, x, y, architecture, value, None if mean is None else sign * mean, deviation)


# -- pictures -------------------------------------------------------------------------------------------------------------
def picture(grid: Sequence[Sequence[float | None]], box: Box, tries: Sequence[Try], best: int | None) -> str:
    """A map as SVG: rows of the grid are nu from below, columns mu; without a grid the points in colours of their own."""
    (left, low), (right, high) = box
    wide, tall = SIZE[0] - LEFT - RIGHT, SIZE[1] - ABOVE - BELOW

    def across(x: float) -> float:
        return LEFT + wide * (x - left) / (right - left)

    def down(y: float) -> float:
        return ABOVE + tall * (high - y) / (high - low)

    known = [value for row in grid for value in row if value is not None]
    known = known or [one.value for one in tries if one.value is not None] or [0.0]
    shade = _shade(min(known), max(known))
    cells = _cells(grid, wide, tall, shade)
    dots = "".join(_dot(one, across(one.x), down(one.y), one.id == best, None if grid else shade) for one in tries)
    frame = f'<rect x="{LEFT}" y="{ABOVE}" width="{wide}" height="{tall}" style="fill: none; stroke: var(--grid)"/>'
    floor = ABOVE + tall
    ticks = "".join(
        [
            *(_text(across(x), floor + 16, "10", "middle", x) for x in marks(left, right)),
            *(_text(LEFT - 7, down(y) + 4, "10", "end", y) for y in marks(low, high)),
            _text(LEFT + wide / 2, floor + 34, "μ", "middle"),
            _text(8, ABOVE + tall / 2 + 4, "ν", "middle"),
        ]
    )
    title = f"{len(tries)} points of mu and nu; values from {short(min(known))} to {short(max(known))}"
    return (
        f'<svg class="map" viewBox="0 0 {SIZE[0]:g} {SIZE[1]:g}" role="img"><title>{title}</title>{cells}{frame}{dots}{ticks}'
        f"{_colours(min(known), max(known), wide, tall)}</svg>"
    )


def marks(low: float, high: float) -> range:
    """Whole numbers on an axis, evenly spaced and few.

    >>> list(marks(-9.4, 0.3)), list(marks(31.4, 83.7)), list(marks(1.2, 1.4))
    ([-8, -6, -4, -2, 0], [40, 60, 80], [])
    """
    first, last = math.ceil(low), math.floor(high)
    step = next(one for one in (1, 2, 3, 5, 10, 20, 50, 100, 500) if (last - first) // one < MARKS)
    return range(first + -first % step, last + 1, step)


def _shade(least: float, most: float) -> Callable[[float], str]:
    """From values to colours."""

    def colour(value: float) -> str:
        share = FAINT + (FULL - FAINT) * ((value - least) / (most - least) if most > least else 0.5)
        return f"color-mix(in srgb, var(--best) {share:.0f}%, var(--surface))"

    return colour


def _cells(grid: Sequence[Sequence[float | None]], wide: float, tall: float, shade: Callable[[float], str]) -> str:
    """A box for each value; those at the edges are half as wide, for a value belongs to a point."""
    many = len(grid)
    step = 1 / (many - 1) if many > 1 else 1.0
    cuts = [0.0, *((place + 0.5) * step for place in range(many - 1)), 1.0]
    found = []
    for row, values in enumerate(grid):
        y, height = ABOVE + tall * (1 - cuts[row + 1]), tall * (cuts[row + 1] - cuts[row])
        for column, value in enumerate(values):
            if value is not None:
                x, width = LEFT + wide * cuts[column], wide * (cuts[column + 1] - cuts[column])
                size = f'width="{width + 0.6:.1f}" height="{height + 0.6:.1f}"'  # over the edge: no light falls between
                found.append(f'<rect x="{x:.1f}" y="{y:.1f}" {size} style="fill: {shade(value)}"/>')
    return "".join(found)


def _dot(one: Try, x: float, y: float, best: bool, shade: Callable[[float], str] | None) -> str:
    words = f"candidate {one.id}: μ {one.mu}, ν {one.nu}, {'failed' if one.value is None else number(one.value)}"
    fill = "var(--surface)" if shade is None or one.value is None else shade(one.value)
    ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" style="fill: none; stroke: var(--front); stroke-width: 2.5"/>'
    dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" style="fill: {fill}; stroke: var(--ink); stroke-width: 1.3"/>'
    return f"<g><title>{escape(words)}</title>{dot}{ring if best else ''}</g>"


def _colours(least: float, most: float, wide: float, tall: float) -> str:
    """What the colours mean: from the least below to the most above."""
    x, height = LEFT + wide + 12, tall / COLOURS
    shade = _shade(0.0, COLOURS - 1.0)
    boxes = "".join(
        f'<rect x="{x}" y="{ABOVE + tall - (place + 1) * height:.1f}" width="9" height="{height + 0.6:.1f}" '
        f'style="fill: {shade(place)}"/>'
        for place in range(COLOURS)
    )
    least = 0.0 if abs(least) < 1e-3 * abs(most) else least  # as good as none, and short enough to be read
    ends = _text(x + 13, ABOVE + 9, f"{most:.3g}", "start") + _text(x + 13, ABOVE + tall, f"{least:.3g}", "start")
    return boxes + ends


def _text(x: float, y: float, words: str, anchor: str, power: int | None = None) -> str:
    raised = "" if power is None else f'<tspan dy="-4" class="power">{power}</tspan>'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}{raised}</text>'.replace(">-", ">−")


def _power(exponent: float) -> str:
    """A number whose logarithm is on an axis.

    >>> _power(2.0), _power(-6.51), _power(90.0)
    ('100', '3.09e-07', '1e+90')
    """
    return f"{10.0**exponent:.3g}"

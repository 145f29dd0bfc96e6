"""Maps around trained weights as SVG for a page: contours of a loss, and shades of a number, all of one row on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

#: height and width of a drawing, and of a square in it
SIDE, EDGE = 200.0, 12.0
#: contour lines of a map
LEVELS = 9
#: above this ratio of the highest to the least, contour lines stand in equal ratios
STEEP = 5.0
#: a scale ends above this share of what was measured: the corners are far higher
SHOWN = 0.75

Rows = Sequence[Sequence[float]]


def scale_of(maps: Sequence[Rows]) -> tuple[float, float]:
    """From the least of all maps to their upper quartile.

    >>> scale_of([[[1.0, 2.0]], [[3.0, float("inf")]]])
    (1.0, 2.5)
    """
    values = np.array([value for one in maps for row in one for value in row], float)
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(np.quantile(known, SHOWN))
    return low, high if high > low else low + 1.0


def levels_of(low: float, high: float, count: int) -> np.ndarray:
    """Heights of contour lines above the least: in equal steps, or in equal ratios where the highest is many times the least.

    >>> levels_of(0.0, 3.0, 3).tolist(), levels_of(1.0, 8.0, 3).round(6).tolist()
    ([1.0, 2.0, 3.0], [2.0, 4.0, 8.0])
    """
    return (np.geomspace if 0 < STEEP * low < high else np.linspace)(low, high, count + 1)[1:]


def contours(steps: Sequence[float], heights: Rows, scale: tuple[float, float], role: str, words: str) -> str:
    """Lines of equal height, the stronger the lower; the trained weights are the dot in the middle.

    Rows are steps along the first direction (upwards), columns along the second.
    """
    from contourpy import contour_generator

    low, high = scale
    z = np.array([[value if math.isfinite(value) else high * 10 for value in row] for row in heights], float)
    lines = contour_generator(np.array(steps), np.array(steps), z)
    drawn = []
    for number, level in enumerate(levels_of(low, high, LEVELS)):
        path = "".join(_path(np.asarray(points), steps) for points in lines.lines(level))
        if path:
            drawn.append(f'<path d="{path}" style="stroke-opacity: {1 - 0.75 * number / LEVELS:.2f}"/>')
    middle = SIDE / 2
    inside = f'<g fill="none" style="stroke: var(--{role}); stroke-width: 1.3">{"".join(drawn)}</g>'
    return _svg(inside + f'<circle cx="{middle}" cy="{middle}" r="3" style="fill: var(--{role})"/>', words)


def shades(heights: Rows, scale: tuple[float, float], role: str, words: str) -> str:
    """A square for each place, the fuller the higher; what is above the scale is full."""
    low, high = scale
    side = (SIDE - 2 * EDGE) / len(heights)
    drawn = []
    for row, line in enumerate(heights):
        for column, value in enumerate(line):
            share = 1.0 if not math.isfinite(value) else min(1.0, max(0.0, (value - low) / (high - low)))
            x, y = EDGE + column * side, SIDE - EDGE - (row + 1) * side
            said = "no number" if not math.isfinite(value) else f"{value:.3g}"
            place = f'x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}"'
            drawn.append(f'<rect {place} style="fill-opacity: {share:.2f}"><title>{said}</title></rect>')
    return _svg(f'<g style="fill: var(--{role})">{"".join(drawn)}</g>', words)


def _svg(inside: str, words: str) -> str:
    side = SIDE - 2 * EDGE
    frame = f'<rect x="{EDGE}" y="{EDGE}" width="{side}" height="{side}" fill="none" style="stroke: var(--line)"/>'
    head = f'<svg class="map" viewBox="0 0 {SIDE:g} {SIDE:g}" role="img"><title>{escape(words)}</title>'
    return f"{head}{frame}{inside}</svg>"


def _path(points: np.ndarray, steps: Sequence[float]) -> str:
    low, high = steps[0], steps[-1]
    across = EDGE + (points[:, 0] - low) / (high - low) * (SIDE - 2 * EDGE)
    up = SIDE - EDGE - (points[:, 1] - low) / (high - low) * (SIDE - 2 * EDGE)
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(across, up, strict=True))

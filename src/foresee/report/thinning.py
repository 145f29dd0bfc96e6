"""A chart of any number of candidates as a page can show it: of dots that cover each other one is drawn.

Only the picture is thinned out. Axes keep their ends, lines their corners, and the run its candidates.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from foresee.report.figures import SIZE, Chart, Layer

#: dots of a cloud, and corners of a line, at most
MOST = 1800
#: of how many points of the picture one dot is kept, from fine to coarse
CELLS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0)

Floats = NDArray[np.float64]


def thinned(chart: Chart, most: int = MOST) -> Chart:
    """The chart with at most about so many dots in a cloud and corners in a line; as it is where there are no more."""
    if all(len(layer.x) <= most for layer in chart.layers):
        return chart
    return replace(chart, layers=tuple(_thin(chart, layer, most) for layer in chart.layers))


def _thin(chart: Chart, layer: Layer, most: int) -> Layer:
    if len(layer.x) <= most:
        return layer
    if layer.kind == "dots":
        kept = _apart(chart, layer, most)
    elif layer.kind == "line":
        kept = _corners(layer, most)
    else:
        return layer
    x, y = (tuple(values[place] for place in kept) for values in (layer.x, layer.y))
    return replace(layer, x=x, y=y, ids=tuple(layer.ids[place] for place in kept) if layer.ids else ())


def _apart(chart: Chart, layer: Layer, most: int) -> list[int]:
    """Places of dots in different cells of the picture, the first of each, and those at the ends of the axes."""
    x, y = np.array(layer.x), np.array(layer.y)
    shown = np.array([chart.scale.holds(value) for value in layer.y])
    across, up = _along(x, chart.x_log, x), _along(y, chart.scale.log, y[shown] if shown.any() else y)
    ends = {int(at) for values in (x, y) for at in (np.argmin(values), np.argmax(values))}
    first: NDArray[np.int64] = np.arange(len(x))
    for cell in CELLS:
        columns, rows = (np.floor(part * size / cell) for part, size in zip((across, up), SIZE, strict=True))
        first = np.unique(np.stack([columns, rows]), axis=1, return_index=True)[1]
        if len(first) <= most:
            break
    return sorted({*first.tolist(), *ends})


def _along(values: Floats, log: bool, seen: Floats) -> Floats:
    """How far along its axis each value lies, 0 to 1; what the axis does not reach lies at its end."""
    if log:
        values, seen = np.log(values), np.log(seen)
    low, high = seen.min(), seen.max()
    extent = high - low
    return np.clip((values - low) / extent, 0.0, 1.0) if extent > 0 else np.zeros(len(values))


def _corners(layer: Layer, most: int) -> list[int]:
    """Places of a stepped line where it goes up or down, and its end; evenly spaced ones where these are too many."""
    y = np.array(layer.y)
    places = np.flatnonzero(np.concatenate([[True], y[1:] != y[:-1]]))
    if len(places) > most:
        places = places[np.linspace(0, len(places) - 1, most).astype(int)]
    return sorted({*places.tolist(), len(y) - 1})

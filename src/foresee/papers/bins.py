"""Architectures in bins of a number: how an error goes with it, where single architectures scatter too much to see it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foresee.papers.cells import Scatter
from foresee.papers.samples import Floats

#: as the papers draw them, where there are enough architectures
BINS = 20


def bins(values: Floats, *, least: int = 5) -> list[NDArray[np.int64]]:
    """The places of `values`, smallest first, in up to 20 equally full bins of at least `least`; NaN are in none.

    >>> [part.tolist() for part in bins(np.array([3.0, np.nan, 1.0, 2.0, 9.0]), least=2)]
    [[2, 3], [0, 4]]
    """
    order = np.argsort(values, kind="stable")[: int(np.isfinite(values).sum())]
    count = min(BINS, len(order) // least)
    return [np.asarray(part, np.int64) for part in np.array_split(order, count)] if count else []


def binned(name: str, text: str, labels: tuple[str, str], x: Floats, y: Floats, *, scale: float = 1.0) -> Scatter:
    """The mean of y against the mean of x in every bin of x; bars are the standard deviation of y times `scale`."""
    groups = bins(x)
    return Scatter(
        name,
        f"{text}: means of {len(groups)} bins of {sum(map(len, groups))} networks",
        *labels,
        x=tuple(float(x[group].mean()) for group in groups),
        y=tuple(float(y[group].mean()) for group in groups),
        bars=tuple(float(y[group].std() * scale) for group in groups),
    )

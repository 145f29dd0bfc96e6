"""Architectures in bins of a number: how an error goes with it, where single architectures scatter too much to see it."""

from __future__ import annotations

from foresee.insight.trade_off import BINS, bins
from foresee.papers.cells import Scatter
from foresee.papers.samples import Floats

__all__ = ["BINS", "bins", "binned"]


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

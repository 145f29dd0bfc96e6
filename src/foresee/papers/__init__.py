"""The papers' tables: what they print, and the same computed here.

>>> page = reproduce("dextr-table-7")  # with a `Workshop` it is computed
>>> page.lines[0].paper, page.lines[0].ours, page.verdict
(-0.63, None, 'nothing computed in this run')
"""

from __future__ import annotations

from foresee.papers.base import (
    Cell,
    Line,
    Page,
    Reproduction,
    Scatter,
    Unavailable,
    compare,
    names,
    reproduce,
    reproduction,
)
from foresee.papers.numbers import Published, published
from foresee.papers.workshop import Asked, Measured, Sample, Workshop

__all__ = [
    "Asked",
    "Cell",
    "Line",
    "Measured",
    "Page",
    "Published",
    "Reproduction",
    "Sample",
    "Scatter",
    "Unavailable",
    "Workshop",
    "compare",
    "names",
    "published",
    "reproduce",
    "reproduction",
]

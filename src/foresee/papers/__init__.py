"""The papers' tables: what they print, and the same computed here.

>>> page = reproduce("dextr-table-7")  # with a `Workshop` it is computed
>>> page.lines[0].paper, page.lines[0].ours, page.verdict
(-0.63, None, 'nothing computed in this run')
"""

from __future__ import annotations

from foresee.papers.asked import Asked, Measured
from foresee.papers.base import Reproduction, names, reproduction
from foresee.papers.cells import Cell, Scatter, Unavailable
from foresee.papers.comparing import Line, compare
from foresee.papers.numbers import Published, published
from foresee.papers.pages import Page, reproduce
from foresee.papers.samples import Sample
from foresee.papers.workshop import Workshop

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

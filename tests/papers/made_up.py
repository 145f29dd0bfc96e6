"""Made-up networks of the size space, and a workshop that works with their tables."""

from __future__ import annotations

from foresee.papers.workshop import Workshop

SIZES = ("8:8:8:8:8", "8:16:8:16:8", "16:8:8:8:24", "8:8:24:8:16", "24:8:8:8:8")
TRUTH = (70.0, 80.0, 75.0, 78.0, 71.0)


def shop(tables, **changes):
    return Workshop(**{"tables": tables, "sample": 4, "data": "synthetic", "bootstrap": 20, **changes})

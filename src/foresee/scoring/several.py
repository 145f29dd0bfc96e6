"""Several scores of one network: a dictionary that can be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foresee.grid import Grid, Shown, frame
from foresee.proxies.base import Score, grid_of

if TYPE_CHECKING:
    import pandas


class Scores(Shown, dict[str, Score]):
    """Scores by the name of their proxy, in the order in which they were asked for; printed, they are a table.

    >>> print(Scores(params=Score("params", 15.0), snip=Score("snip", None, "unsupported", "no labels")))
    proxy         score  better  time
    params           15  higher  0 ms
    snip    unsupported  higher  0 ms  no labels
    """

    def __str__(self) -> str:
        return str(self._grid())

    def to_frame(self) -> pandas.DataFrame:
        """A row for each proxy: score, status, reason, direction, spread, coverage, seconds. Needs pandas."""
        names = ("status", "reason", "direction", "spread", "coverage", "seconds")
        return frame(
            (
                {"proxy": name, "score": one.value, **{key: getattr(one, key) for key in names}}
                for name, one in self.items()
            ),
            index="proxy",
        )

    def _grid(self) -> Grid:
        return grid_of(self.values())

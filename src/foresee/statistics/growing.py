"""The foremost of a list that grows: by ranks over all of it, several columns together, without sorting it again each time.

Ordered by the sum over the columns of log(rank / n), the greatest first, of equals the older. A newcomer raises the rank of
everybody above it by one, so all sums change; but nobody moves far at once. With t newcomers a rank grows by t at most, and
the sums of the foremost never fall. So after one look at all of them most are too far behind to come to the front within the
next t, and only the others, the *contenders*, are followed from one newcomer to the next.

>>> ranked = Foremost(many=2)
>>> for merits in ([1.0, 1.0], [2.0, 4.0], [3.0, 5.0], [4.0, 2.0]):
...     ranked.add(merits)
>>> ranked.first().tolist(), ranked.order().tolist()
([2, 3], [2, 3, 1, 0])
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from foresee.statistics.ranks import ranks_of

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

#: numbers of a block of `Sorted`, at most
BLOCK = 512
#: contenders beyond those asked for, as a share of them and at least, which decides how long they can be followed
SHARE, LEAST = 1.0, 256
#: what rounding may do to a sum of logarithms
ROUNDING = 1e-9


class Sorted:
    """Numbers in order, kept in short blocks: one is added, and its rank found, without touching most of the others."""

    def __init__(self) -> None:
        self._blocks: list[list[float]] = []
        self._lasts: list[float] = []

    def add(self, value: float) -> float:
        """Add a number and say its rank among all, 1 for the smallest; ties share the mean of theirs."""
        at = min(bisect_left(self._lasts, value), len(self._blocks) - 1)
        if at < 0:
            self._blocks, self._lasts = [[value]], [value]
            return 1.0
        block = self._blocks[at]
        insort(block, value)
        self._lasts[at] = block[-1]
        if len(block) > BLOCK:
            half = len(block) // 2
            self._blocks[at : at + 1] = [block[:half], block[half:]]
            self._lasts[at : at + 1] = [block[half - 1], block[-1]]
        return self._rank(value)

    def _rank(self, value: float) -> float:
        first, last = bisect_left(self._lasts, value), min(bisect_right(self._lasts, value), len(self._blocks) - 1)
        sizes = [len(block) for block in self._blocks[: last + 1]]
        below = sum(sizes[:first]) + bisect_left(self._blocks[first], value)
        upto = sum(sizes[:last]) + bisect_right(self._blocks[last], value)
        return (below + upto + 1) / 2


class Foremost:
    """The first `many` of a growing list of rows; `add` takes one row, one number for each column, more being better."""

    def __init__(self, many: int) -> None:
        self.many = many
        self._rows = np.empty((0, 0))
        self._count = 0
        self._columns: list[Sorted] = []
        #: the contenders by place, rising, their ranks, and how many more rows they are known to be all of them for
        self._there: Places = np.empty(0, np.int64)
        self._ranks: Floats = np.empty((0, 0))
        self._ahead = 0

    def __len__(self) -> int:
        return self._count

    def add(self, row: Sequence[float]) -> None:
        """One more; NaN has no rank and is for nobody to add."""
        values = np.asarray(row, dtype=np.float64)
        if not self._count:
            self._rows = np.empty((64, len(values)))
            self._columns = [Sorted() for _ in values]
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self._count] = values
        own = [column.add(value) for column, value in zip(self._columns, values.tolist(), strict=True)]
        if self._ahead:
            others = self._rows[self._there]
            self._ranks += (others > values) + 0.5 * (others == values)
            self._there = np.append(self._there, self._count)
            self._ranks = np.vstack([self._ranks, own])
            self._ahead -= 1
        self._count += 1

    def first(self) -> Places:
        """The places of the first `many`, best first."""
        if not self._ahead:
            self._look()
        return self._there[_falling(self._sums(self._ranks))[: self.many]]

    def order(self) -> Places:
        """The places of all, best first."""
        return _falling(self._sums(ranks_of(self._rows[: self._count], axis=0))) if self._count else np.arange(0)

    def _sums(self, ranks: Floats) -> Floats:
        return np.asarray(np.log(ranks / self._count).sum(axis=1))

    def _look(self) -> None:
        """Look at all of them, and choose those who can come to the front for as many newcomers as that is few."""
        ranks = ranks_of(self._rows[: self._count], axis=0)
        if self._count <= self.many:
            self._there, self._ranks, self._ahead = np.arange(self._count), ranks, self.many - self._count + 1
            return
        bar = np.sort(np.log(ranks).sum(axis=1))[-self.many] - ROUNDING
        most = self.many + max(LEAST, int(SHARE * self.many))
        ahead, further = 1, 2
        while further <= most and np.count_nonzero(_reach(ranks, further) >= bar) <= most:
            ahead, further = further, 2 * further
        self._there = np.flatnonzero(_reach(ranks, ahead) >= bar)
        self._ranks, self._ahead = ranks[self._there], ahead


def _reach(ranks: Floats, newcomers: int) -> Floats:
    """The greatest sum of logarithms that each can have after so many newcomers."""
    return np.asarray(np.log(ranks + newcomers).sum(axis=1))


def _falling(values: Floats) -> Places:
    return np.argsort(-values, kind="stable")

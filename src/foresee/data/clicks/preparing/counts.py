"""How often each value of a category occurs, in memory that does not grow with the file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foresee.data.clicks.reading.texts import Keys

Numbers = NDArray[np.int64]

#: values of one column that are counted at a time; 16 bytes each
BOUND = 2**21
#: keys that are waited for before they are counted together
TOGETHER = 2**17


class Counts:
    """Keys with how often each was seen.

    Exact as long as a column has at most `bound` values. Beyond, the least frequent are forgotten each time there are more,
    so that three quarters of the bound are left at most; a forgotten value begins again at 0. A count then falls short by at
    most `shortfall`, and a value seen more often than that is there.

    >>> counts = Counts()
    >>> counts.add(np.array([5, 7, 5], np.uint64))
    >>> [array.tolist() for array in counts.most(least=1, rows=10)]
    [[5, 7], [2, 1]]
    """

    def __init__(self, bound: int = BOUND) -> None:
        self.bound, self.shortfall = bound, 0
        self._keys, self._counts = np.empty(0, np.uint64), np.empty(0, np.int64)
        self._waiting: list[Keys] = []
        self._joined: list[tuple[Keys, Numbers]] = []

    def add(self, keys: Keys) -> None:
        """Some more of them; 0 (missing) is not counted."""
        self._waiting.append(keys[keys != 0])
        if sum(map(len, self._waiting)) >= TOGETHER:
            self._count()

    def _count(self) -> None:
        """What waits becomes keys and counts; these are joined to the rest when they are no longer few beside it."""
        if self._waiting:
            keys, counts = np.unique(np.concatenate(self._waiting), return_counts=True)
            self._waiting = []
            self._joined.append((keys, counts.astype(np.int64)))
        if sum(len(keys) for keys, _ in self._joined) > max(TOGETHER, len(self._keys) // 2):
            self._join()

    def _join(self) -> None:
        keys = np.concatenate([self._keys, *(keys for keys, _ in self._joined)])
        counts = np.concatenate([self._counts, *(counts for _, counts in self._joined)])
        self._joined = []
        order = np.argsort(keys, kind="stable")  # runs that are sorted are merged
        keys, counts = keys[order], counts[order]
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.empty(0, np.int64)
        self._keys = keys[first]
        self._counts = np.add.reduceat(counts, first) if len(first) else counts
        if len(self._keys) > self.bound:
            left = self.bound * 3 // 4
            floor = int(-np.partition(-self._counts, left)[left])
            kept = self._counts > floor
            self._keys, self._counts = self._keys[kept], self._counts[kept]
            self.shortfall += floor

    def most(self, least: int, rows: int) -> tuple[Keys, Numbers]:
        """The values seen at least so often, the most frequent first (of equal ones the smaller key), `rows` at most."""
        if self._waiting:
            self._count()
        self._join()
        kept = np.flatnonzero(self._counts >= least)
        order = kept[np.lexsort((self._keys[kept], -self._counts[kept]))][:rows]
        return self._keys[order], self._counts[order]

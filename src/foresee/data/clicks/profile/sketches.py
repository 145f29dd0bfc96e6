"""What can be told of a stream without keeping it: how many different values, which are frequent, a fair sample.

Each takes the stream piece by piece and a fixed amount of memory. Each is exact as long as there is room, and says when it is
not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: values that are kept of a stream: up to so many different ones are counted exactly, more to about 0.4 %
ROOM = 1 << 16

Keys = NDArray[np.uint64]
Whole = NDArray[np.int64]


def mixed(numbers: Keys) -> Keys:
    """Whole numbers as others that lie as if drawn (the finaliser of SplitMix64); different ones stay different."""
    with np.errstate(over="ignore"):
        numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
        numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


class Distinct:
    """How many different keys there are: the smallest `room` of them are kept, mixed, and where the last of these lies tells
    how dense all of them lie.

    >>> count = Distinct(room=1000)
    >>> for piece in range(10):
    ...     count.take(np.arange(50_000, dtype=np.uint64) + np.uint64(5_000 * piece))
    >>> count.exact, abs(count.estimate / 95_000 - 1) < 0.1
    (False, True)
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room, self.exact = room, True
        self._kept: Keys = np.zeros(0, np.uint64)

    def take(self, keys: Keys) -> None:
        """Take some keys in."""
        fresh = mixed(keys)
        if not self.exact:
            fresh = fresh[fresh < self._kept[-1]]
        if len(fresh):
            kept = np.unique(np.concatenate([self._kept, np.unique(fresh)]))
            self.exact = self.exact and len(kept) <= self._room
            self._kept = kept[: self._room]

    @property
    def estimate(self) -> int:
        """How many there are, or about."""
        if self.exact:
            return len(self._kept)
        return round((self._room - 1) * 2.0**64 / float(self._kept[-1]))


class Frequent:
    """The keys that are seen most often, each with how often, and how often with yes.

    Where there are more keys than room, the rarer half is forgotten, again and again; what a count may lack then is `lost`.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room, self.lost = room, 0
        self._keys: Keys = np.zeros(0, np.uint64)
        self._counts: Whole = np.zeros((0, 2), np.int64)

    def take(self, keys: Keys, yes: NDArray[np.bool_]) -> None:
        """Take some keys in, and whether the label of each means yes."""
        seen, places = np.unique(np.concatenate([self._keys, keys]), return_inverse=True)
        counts = np.zeros((len(seen), 2), np.int64)
        counts[places[: len(self._keys)]] = self._counts
        fresh = places[len(self._keys) :]
        counts[:, 0] += np.bincount(fresh, minlength=len(seen))
        counts[:, 1] += np.bincount(fresh, weights=yes, minlength=len(seen)).astype(np.int64)
        if len(seen) > self._room:
            order = np.argsort(-counts[:, 0], kind="stable")
            self.lost += int(counts[order[self._room // 2], 0])
            kept = np.sort(order[: self._room // 2])
            seen, counts = seen[kept], counts[kept]
        self._keys, self._counts = seen, counts

    def most(self, many: int) -> list[tuple[int, int, int]]:
        """The most frequent: key, how often, how often with yes."""
        order = np.lexsort((self._keys, -self._counts[:, 0]))[:many]
        return [(int(self._keys[k]), int(self._counts[k, 0]), int(self._counts[k, 1])) for k in order.tolist()]


class Drawn:
    """A sample of rows without replacement, the same whatever the pieces: those whose mixed numbers are the smallest.

    >>> sample = Drawn(room=100)
    >>> for first in range(0, 10_000, 1000):
    ...     sample.take(first, np.arange(first, first + 1000))
    >>> len(sample.rows), sample.exact, 3000 < np.median(sample.rows) < 7000
    (100, False, np.True_)
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room, self.exact = room, True
        self._places: Keys = np.zeros(0, np.uint64)
        self.rows: NDArray[Any] = np.zeros(0)

    def take(self, first: int, rows: NDArray[Any]) -> None:
        """Take rows in, of which `first` is the number of the first; an axis beyond the first goes along."""
        places = mixed(np.arange(first, first + len(rows), dtype=np.uint64))
        if not self.exact:
            near = places < self._places.max()
            places, rows = places[near], rows[near]
        places = np.concatenate([self._places, places])
        rows = rows if not len(self.rows) else np.concatenate([self.rows, rows])
        if len(places) > self._room:
            kept = np.argpartition(places, self._room)[: self._room]
            places, rows, self.exact = places[kept], rows[kept], False
        self._places, self.rows = places, rows

"""Where the records of a block stand: looked up only where one of them has to be named."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from foresee.data.clicks.reading.blocks import NEWLINE, QUOTE, RETURN


class Lines:
    r"""The records of a block whose quotes are in good order, blank lines passed over.

    >>> lines = Lines(b'a,b\n\n"c\nc",d\ne\n', ",")
    >>> lines.numbers.tolist(), lines.fields.tolist()
    ([0, 2, 4], [2, 2, 1])
    """

    def __init__(self, content: bytes, delimiter: str) -> None:
        self._content, self._mark = content, delimiter.encode()[0]

    @cached_property
    def _found(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        content = np.frombuffer(self._content, np.uint8)
        breaks = np.flatnonzero(content == NEWLINE)
        marks = np.flatnonzero(content == self._mark)
        ends = breaks
        if QUOTE in self._content:
            quotes = np.flatnonzero(content == QUOTE)
            ends = breaks[np.searchsorted(quotes, breaks) % 2 == 0]
            marks = marks[np.searchsorted(quotes, marks) % 2 == 0]
        if not len(ends) or ends[-1] != len(content) - 1:
            ends = np.append(ends, len(content))
        starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)
        lengths = ends - starts
        blank = (lengths == 0) | ((lengths == 1) & (content[np.minimum(starts, len(content) - 1)] == RETURN))
        numbers = np.searchsorted(breaks, starts)
        fields = np.searchsorted(marks, ends) - np.searchsorted(marks, starts) + 1
        return starts[~blank], numbers[~blank], fields[~blank]

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first byte of each record."""
        return self._found[0]

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The line that each record begins on, from 0."""
        return self._found[1]

    @property
    def fields(self) -> NDArray[np.int64]:
        """How many fields it has."""
        return self._found[2]

    def of_fields(self, fields: int) -> NDArray[np.int64]:
        """The lines of the records with so many fields."""
        found: NDArray[np.int64] = self.numbers[self.fields == fields]
        return found

    def not_of_fields(self, fields: int) -> list[tuple[int, int]]:
        """The lines of all others, each with how many fields it has."""
        other = self.fields != fields
        return list(zip(self.numbers[other].tolist(), self.fields[other].tolist(), strict=True))

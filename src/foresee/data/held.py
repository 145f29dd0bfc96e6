"""Numbers held in memory in the type they came in, and handed out in another: a byte in a file stays a byte here.

Whatever is done with all of them (checks, counting, the digest) is done in pieces, so that a file costs its own size and a
little more.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foresee.data.base import Pieces
from foresee.errors import DataError

Array = NDArray[Any]

#: numbers that are converted at a time
PIECE = 2**20


class Held:
    """Rows of an array, handed out as `kind`.

    >>> held = Held(np.array([[1, 2], [3, 4]], np.uint8), np.float32)
    >>> held.rows(torch.tensor([1])), held.array.dtype
    (tensor([[3., 4.]]), dtype('uint8'))
    """

    def __init__(self, array: Array, kind: Any, *, copy: bool = True) -> None:
        self.kind = np.dtype(kind)
        if copy:  # a caller may go on writing into theirs; and there is no reason to keep more than is handed out
            with np.errstate(over="ignore"):
                array = np.array(array, min(array.dtype, self.kind, key=lambda one: one.itemsize), order="C")
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of all rows together."""
        return self.array.shape

    def rows(self, indices: Tensor) -> Tensor:
        """The rows with these numbers, as the caller's own tensor."""
        return torch.from_numpy(self._as_kind(self.array[indices.numpy()]))

    def pieces(self) -> Iterator[tuple[int, Array]]:
        """All rows in order, some at a time, each piece with the number of its first row."""
        step = max(1, PIECE // max(1, prod(self.shape[1:])))
        for start in range(0, len(self), step):
            yield start, self._as_kind(self.array[start : start + step])

    def check_finite(self, what: str) -> None:
        """Every number is one, also as it is handed out."""
        if self.array.dtype.kind == "f":
            bad = sum(piece.size - int(np.isfinite(piece).sum()) for _, piece in self.pieces())
            if bad:
                raise DataError(
                    f"{what}: {bad} of {self.array.size} values are NaN, infinite or beyond float32; clean them first"
                )

    @property
    def content(self) -> tuple[object, ...]:
        """What a digest is made of: shape, type and bytes, as they are handed out."""
        little = self.kind.newbyteorder("<")
        pieces = (np.ascontiguousarray(piece, little).data.cast("B") for _, piece in self.pieces())
        kind = str(torch.from_numpy(np.empty(0, self.kind)).dtype)
        return self.shape, kind, Pieces(self.array.size * self.kind.itemsize, pieces)

    def _as_kind(self, rows: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(rows, self.kind, order="C")

"""The order of an epoch over more rows than memory holds: shuffled, and still read from the disk in long pieces.

Up to `WINDOW` rows the order is that of every data set, one permutation of all. Beyond, blocks of neighbouring rows are drawn
in any order, and as many as fill a window are shuffled row by row: so a window is read as a few long pieces, and nothing but
one window's order is held.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from foresee.data.orders import Orders
from foresee.seeds import generator

#: rows that are shuffled among each other
WINDOW = 2**22
#: rows that are read together
BLOCK = 2**12


class Windows(Orders):
    """Orders by windows; `coming` is told the blocks of rows (first, last + 1) of each window that is begun.

    >>> order = Windows(window=8, block=2).rows(11, seed=0, lap=0, first=0, size=11)
    >>> sorted(order.tolist()) == list(range(11))
    True
    """

    def __init__(
        self, coming: Callable[[list[tuple[int, int]]], None] | None = None, window: int = WINDOW, block: int = BLOCK
    ) -> None:
        super().__init__()
        self._coming, self._window, self._block = coming, window, block
        self._blocks: tuple[tuple[int, int, int], Tensor] | None = None
        self._here: tuple[tuple[int, int, int, int], int, Tensor] | None = None

    def rows(self, count: int, seed: int, lap: int, first: int, size: int) -> Tensor:
        """The `size` numbers from place `first` on; fewer where the order ends."""
        if count <= self._window:
            return super().rows(count, seed, lap, first, size)
        found: list[Tensor] = []
        last = min(first + size, count)
        while first < last:
            start, order = self._window_at(count, seed, lap, first)
            piece = order[first - start : last - start]
            found.append(piece)
            first += len(piece)
        return torch.cat(found) if found else torch.empty(0, dtype=torch.int64)

    def _window_at(self, count: int, seed: int, lap: int, place: int) -> tuple[int, Tensor]:
        """Where the window begins that holds this place, and its order."""
        key = (count, seed, lap)
        if self._blocks is None or self._blocks[0] != key:
            whole = count // self._block
            # The rows that fill no block stand in the last window.
            self._blocks = key, torch.randperm(whole, generator=generator(seed, "data", lap))
        each = self._window // self._block
        windows = max(1, len(self._blocks[1]) // each)
        number = min(place // (each * self._block), windows - 1)
        if self._here is None or self._here[0] != (*key, number):
            self._here = (*key, number), *self._drawn(count, seed, lap, number, number == windows - 1)
        return self._here[1], self._here[2]

    def _drawn(self, count: int, seed: int, lap: int, number: int, final: bool) -> tuple[int, Tensor]:
        assert self._blocks is not None
        blocks, each = self._blocks[1], self._window // self._block
        chosen = blocks[number * each :] if final else blocks[number * each : (number + 1) * each]
        rows = (chosen[:, None] * self._block + torch.arange(self._block)).flatten()
        rest = len(blocks) * self._block
        if final:
            rows = torch.cat([rows, torch.arange(rest, count)])
        if self._coming is not None:
            pieces = [(start * self._block, (start + 1) * self._block) for start in chosen.sort().values.tolist()]
            self._coming(pieces + ([(rest, count)] if final and rest < count else []))
        order = rows[torch.randperm(len(rows), generator=generator(seed, "data", lap, number))]
        return number * each * self._block, order

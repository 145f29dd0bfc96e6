"""Which layers of a network work at one resolution, and how what they are worth is joined over resolutions."""

from __future__ import annotations

import torch
from torch import Tensor


def resolutions(positions: Tensor) -> Tensor:
    """The resolution of every layer by the positions that it makes: (layers,) to numbers from 0, the coarsest.

    A resolution ends where the next larger map has at least twice as many positions: 197 tokens are with 196, and so are maps
    that borders make a little smaller. Vectors (one position) are with the coarsest maps, whose sums they are.

    >>> resolutions(torch.tensor([1024, 900, 256, 64, 1])).tolist()
    [2, 2, 1, 0, 0]
    >>> resolutions(torch.tensor([1, 1])).tolist()
    [0, 0]
    """
    maps = positions[positions > 1]
    sizes = positions.clamp(min=maps.min()) if len(maps) else positions
    known, which = torch.unique(sizes, return_inverse=True)
    numbers = torch.cat([known.new_zeros(1, dtype=torch.long), (known[1:] >= 2 * known[:-1]).cumsum(0)])
    return numbers[which]


def sums(values: Tensor, at: Tensor) -> Tensor:
    """Sums of what layers have over each resolution: (..., layers), (layers,) to (..., resolutions).

    >>> sums(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([1, 1, 0]))
    tensor([4., 3.])
    """
    found = values.new_zeros(*values.shape[:-1], int(at.max()) + 1)
    return found.index_add(-1, at, values)


def joined(values: Tensor, at: Tensor) -> Tensor:
    """What layers have, joined over resolutions: (..., layers), (layers,) to (...).

    The sum over all pairs of resolutions (each with itself too) of the geometric mean of their sums, which is the square of
    the sum of the roots of the sums. With one resolution it is the sum.

    >>> joined(torch.tensor([4.0, 5.0, 16.0]), torch.tensor([0, 0, 1])).item()  # 9 + 16 + 2 * 12
    49.0
    """
    return sums(values, at).sqrt().sum(-1) ** 2


def spread(values: Tensor, at: Tensor) -> Tensor:
    """What layers have, times how evenly it lies on the resolutions: (..., layers), (layers,) to (...).

    It is `joined` over the number of resolutions: at most the sum, where all have as much, and the sum by that number where
    one has everything. With one resolution it is the sum.

    >>> spread(torch.tensor([4.0, 5.0, 9.0]), torch.tensor([0, 0, 1])).item()  # evenly
    18.0
    >>> spread(torch.tensor([4.0, 12.0, 0.0]), torch.tensor([0, 0, 1])).item()  # all at one of two
    8.0
    """
    return joined(values, at) / (at.max() + 1)


def behind(later: Tensor, at: Tensor, counted: Tensor) -> Tensor:
    """How many layers of its resolution there are from each one on, on the way to the outputs: (layers,) thrice to (layers,).

    `later` is the place of each on the way back; `counted` says which of them count.

    >>> behind(torch.tensor([3, 2, 1, 0]), torch.tensor([1, 1, 1, 0]), torch.tensor([True, False, True, True])).tolist()
    [2, 1, 1, 1]
    """
    after = (at[:, None] == at) & (later <= later[:, None]) & counted
    return after.sum(-1).clamp(min=1)

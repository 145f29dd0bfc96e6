"""How round the spectrum of a matrix is: in how many independent directions its rows point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

#: bytes of small matrices that may wait for their spectra
HELD = 1 << 26
#: relative size of what float32 features cannot tell from 0
RESOLUTION = torch.finfo(torch.float32).eps


def sphericity(maps: Tensor) -> Tensor:
    """Geometric over arithmetic mean of the eigenvalues of the rows' correlation matrix: (..., rows, columns) to (...).

    In [0, 1]: 1 where rows are uncorrelated, 0 where a row is constant or a combination of others. With no more columns than
    rows, only columns - 1 eigenvalues can be above 0, and the means are over these. What float32 cannot tell from 0 is
    rounding of the features and no direction: that much is added to each eigenvalue, so that a determinant is 0 only where
    every row is constant. Maps with NaN or infinity give NaN.

    >>> sphericity(torch.tensor([[1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, -1.0]])).round(decimals=6)
    tensor(1., dtype=torch.float64)
    >>> bool(sphericity(torch.tensor([[1.0, 0.0, -1.0, 0.0], [2.0, 0.0, -2.0, 0.0]])) < 1e-3)
    True
    """
    return roundness(correlations(maps))


class Correlations(NamedTuple):
    """What is left of maps: how rows (or columns, where these are fewer) go together, (..., k, k), and whether all is finite.

    `rank` is how many of the k eigenvalues can be above 0: k, or k - 1 of the columns' side.
    """

    matrices: Tensor
    finite: Tensor
    rank: int


def correlations(maps: Tensor) -> Correlations:
    """The small matrices of large maps, whose spectra are the same but for zeros: (..., rows, columns) to (..., k, k)."""
    rows, columns = maps.shape[-2:]
    rank = min(rows, columns - 1)
    means = maps.mean(-1, keepdim=True)
    centred = (maps - means).double()  # nothing else is done to all the numbers: the rest is small matrices
    if rank == rows:
        products = centred @ centred.mT
        lengths = products.diagonal(dim1=-2, dim2=-1).sqrt()
    else:
        lengths = centred.norm(dim=-1)
    constant = lengths <= RESOLUTION * columns**0.5 * means.squeeze(-1).abs()
    scales = torch.where(constant, 0.0, 1 / lengths)
    if rank == rows:
        matrices = products * scales[..., :, None] * scales[..., None, :]
    else:  # the columns' side has the same eigenvalues above 0, and one 0 along the mean that was taken away, which becomes 1
        unit = centred * scales[..., None]
        matrices = unit.mT @ unit
    return Correlations(matrices, lengths.isfinite().all(-1), rank)


def roundness(found: Correlations) -> Tensor:
    """The sphericity of maps by their correlations: matrices (..., k, k) to (...)."""
    matrices, finite, rank = found
    if rank < 1:
        return torch.zeros(matrices.shape[:-2], dtype=torch.float64, device=matrices.device)
    size = matrices.shape[-1]
    mean = matrices.diagonal(dim1=-2, dim2=-1).sum(-1) / rank
    scaled = matrices / torch.where(mean > 0, mean, 1.0)[..., None, None]
    if rank < size:
        scaled = scaled + 1 / size
    scaled = scaled + RESOLUTION * torch.eye(size, dtype=torch.float64, device=matrices.device)
    root, trouble = torch.linalg.cholesky_ex(scaled)
    value = (2 * root.diagonal(dim1=-2, dim2=-1).log().sum(-1) / rank).exp()
    return torch.where(finite, torch.where((trouble == 0) & (mean > 0), value, 0.0), torch.nan)


def together(found: Sequence[Correlations]) -> list[Tensor]:
    """`roundness` of each, as it would be alone: matrices of one shape go through as one.

    >>> one, other = (correlations(torch.rand(2, 3, 9)) for _ in range(2))
    >>> [value.shape for value in together([one, other, one])]
    [torch.Size([2]), torch.Size([2]), torch.Size([2])]
    """
    kinds: dict[Any, list[int]] = {}
    for place, one in enumerate(found):
        kinds.setdefault((one.matrices.shape, one.rank, one.matrices.device), []).append(place)
    values: dict[int, Tensor] = {}
    for places in kinds.values():
        matrices = torch.stack([found[place].matrices for place in places])
        finite = torch.stack([found[place].finite for place in places])
        values.update(zip(places, roundness(Correlations(matrices, finite, found[places[0]].rank)), strict=True))
    return [values[place] for place in range(len(found))]


@dataclass(eq=False)
class Later:
    """The mean sphericity of some maps, which is known when the matrices that it is `of` have gone through."""

    of: Correlations | None
    mean: Tensor


class Sphericities:
    """Spectra of many maps, taken together when they are asked for, or when too many wait."""

    def __init__(self) -> None:
        self._waiting: list[Later] = []
        self._bytes = 0

    def add(self, maps: Tensor) -> Later:
        """(groups, rows, columns); its mean is over the groups."""
        found = correlations(maps)
        later = Later(found, found.matrices.new_full((), torch.nan))
        self._waiting.append(later)
        self._bytes += found.matrices.numel() * found.matrices.element_size()
        if self._bytes > HELD:
            self.settle()
        return later

    def settle(self) -> None:
        """Make the mean of everything known that was added."""
        values = together([one.of for one in self._waiting if one.of is not None])
        for one, value in zip(self._waiting, values, strict=True):
            one.of, one.mean = None, value.mean()
        self._waiting, self._bytes = [], 0

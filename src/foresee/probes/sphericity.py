"""How round the spectrum of a matrix is: in how many independent directions its rows point."""

from __future__ import annotations

import torch
from torch import Tensor

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
    rows, columns = maps.shape[-2:]
    rank = min(rows, columns - 1)
    if rank < 1:
        return torch.zeros(maps.shape[:-2], dtype=torch.float64, device=maps.device)
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
        correlations = products * scales[..., :, None] * scales[..., None, :]
    else:  # the columns' side has the same eigenvalues above 0, and one 0 along the mean that was taken away, which becomes 1
        unit = centred * scales[..., None]
        correlations = unit.mT @ unit
    mean = correlations.diagonal(dim1=-2, dim2=-1).sum(-1) / rank
    scaled = correlations / torch.where(mean > 0, mean, 1.0)[..., None, None]
    if rank < rows:
        scaled = scaled + 1 / columns
    scaled = scaled + RESOLUTION * torch.eye(scaled.shape[-1], dtype=torch.float64, device=maps.device)
    root, trouble = torch.linalg.cholesky_ex(scaled)
    found = (2 * root.diagonal(dim1=-2, dim2=-1).log().sum(-1) / rank).exp()
    return torch.where(lengths.isfinite().all(-1), torch.where((trouble == 0) & (mean > 0), found, 0.0), torch.nan)

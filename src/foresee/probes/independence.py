"""How many of the rows of a matrix are independent of each other, as a share."""

from __future__ import annotations

import torch
from torch import Tensor

from foresee.probes.sphericity import RESOLUTION


def independence(maps: Tensor, rows: int | None = None) -> Tensor:
    """Effective number of independent rows, as a share of all: (..., rows, columns) to (...), in float64.

    The participation ratio of the spectrum of the rows' correlation matrix R, tr(R)^2 / |R|^2, over the number of rows. With
    C rows of which none is constant it is 1 / (1 + (C - 1) q), q the mean square of the correlation of two rows. In [0, 1]: 1
    where rows are uncorrelated, 1 / C where all are copies of one; constant rows do not count. Rows from N columns by chance
    have q = 1 / (N - 1), so no more than about N of them are independent. `maps` may hold evenly spaced rows of the `rows`
    that are meant: their q is that of all. Maps with NaN or infinity give NaN.

    >>> independence(torch.tensor([[1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, -1.0]]))
    tensor(1., dtype=torch.float64)
    >>> independence(torch.tensor([[1.0, 0.0, -1.0, 0.0], [2.0, 0.0, -2.0, 0.0]])).round(decimals=6)
    tensor(0.5000, dtype=torch.float64)
    """
    maps = maps if maps.dtype == torch.float64 else maps.float()
    compared, columns = maps.shape[-2:]
    means = maps.mean(-1, keepdim=True)
    centred = maps - means
    sizes = centred.abs().amax(-1, keepdim=True)
    constant = sizes <= RESOLUTION * columns**0.5 * means.abs()  # what is left of its mean is rounding
    centred = torch.where(
        constant, 0.0, centred / torch.where(constant, 1.0, sizes)
    )  # squares of tiny gradients are none
    unit = centred / torch.where(constant, 1.0, centred.norm(dim=-1, keepdim=True))
    products = unit @ unit.mT if compared <= columns else unit.mT @ unit  # squares of either have the same sum
    squares = products.double().square().sum((-1, -2))
    alive = (~constant).double().sum((-1, -2))
    pairs = (squares - alive).clamp(min=0) / max(1, compared * (compared - 1))  # mean over two different rows
    share = alive / compared
    mean = share + ((rows or compared) - 1) * pairs
    return torch.where(alive > 0, share**2 / torch.where(alive > 0, mean, 1.0), 0.0)

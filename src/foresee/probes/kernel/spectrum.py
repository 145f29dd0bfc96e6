"""From gradients to a kernel, its eigenvalues and their numbers, in float64."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

#: bytes of one block of columns on its way to float64
BLOCK = 2**24


def gram(parts: Sequence[Tensor]) -> Tensor:
    """Sum over the parts of G G^T: (n, entries) each to (n, n). Converted in blocks of columns, not all at once.

    >>> gram([torch.tensor([[1.0, 2.0], [0.0, 1.0]]), torch.tensor([[1.0], [1.0]])])
    tensor([[6., 3.],
            [3., 2.]], dtype=torch.float64)
    """
    rows = len(parts[0])
    total = torch.zeros(rows, rows, dtype=torch.float64, device=parts[0].device)
    for part in parts:
        for block in _blocks(part):
            total += block @ block.mT
    return total


def squared_lengths(rows: Tensor) -> Tensor:
    """Squared length of each row: (n, entries) to (n,), float64."""
    total = torch.zeros(len(rows), dtype=torch.float64, device=rows.device)
    for block in _blocks(rows):
        total += block.square().sum(1)
    return total


def _blocks(rows: Tensor) -> Iterator[Tensor]:
    """Blocks of columns in float64."""
    for block in torch.split(rows, max(1, BLOCK // (8 * len(rows))), dim=1):
        yield block.double()


def spectrum(kernels: Tensor) -> Tensor:
    """Eigenvalues in ascending order: (..., n, n) to (..., n), over leading axes. A kernel with NaN or infinity gives NaN.

    >>> spectrum(torch.tensor([[2.0, 1.0], [1.0, 2.0]])).round(decimals=6)
    tensor([1., 3.], dtype=torch.float64)
    """
    kernels = kernels.double()
    finite = kernels.isfinite().all(-1).all(-1)
    symmetric = torch.where(finite[..., None, None], (kernels + kernels.mT) / 2, 0.0)
    return torch.where(finite[..., None], torch.linalg.eigvalsh(symmetric), torch.nan)


def condition_number(eigenvalues: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
    """Greatest over least eigenvalue: (..., n) ascending to (...); infinity where the least one is no more than rounding.

    `dtype` is the type in which the gradients were computed. Their rounding reaches the small eigenvalues squared, that of
    the products and of the solver directly.

    >>> condition_number(torch.tensor([[1.0, 2.0, 8.0], [1e-20, 2.0, 8.0], [-1.0, 2.0, 8.0]]))
    tensor([8., inf, inf], dtype=torch.float64)
    """
    eigenvalues = eigenvalues.double()
    least, greatest = eigenvalues[..., 0], eigenvalues[..., -1]
    ratio = torch.where(least > rounding(eigenvalues, dtype), greatest / least, torch.inf)
    return torch.where(eigenvalues.isfinite().all(-1), ratio, torch.nan)


def rounding(eigenvalues: Tensor, dtype: torch.dtype) -> Tensor:
    """The size below which an eigenvalue means nothing: (..., n) to (...)."""
    relative = max(10 * torch.finfo(torch.float64).eps, (3 * torch.finfo(dtype).eps) ** 2)
    return eigenvalues.shape[-1] * relative * eigenvalues[..., -1].abs()

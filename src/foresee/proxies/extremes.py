"""The least and the greatest eigenvalue of many small symmetric matrices at once, on a device that runs one kernel for all.

An accelerator's own solver takes matrices above 32 x 32 one after the other. Only two numbers of a spectrum are wanted
here, so the matrices are brought to tridiagonal form by Householder reflections, all of them step by step together, and the
two ends are then closed in by counting how many eigenvalues lie below a point (Sturm). Every step is one operation.
"""

from __future__ import annotations

import torch
from torch import Tensor

#: points that an interval is cut at in one round, and rounds: 9^18 is beyond the 2^53 of float64
_CUTS, _ROUNDS = 8, 18
#: rounding can put an eigenvalue a little beyond 0 and the trace
_BEYOND = 1e-13
#: numbers of the matrices that are reduced together
_TOGETHER = 2**28


def extremes(matrices: Tensor) -> tuple[Tensor, Tensor]:
    """Least and greatest eigenvalue of positive semi-definite matrices: (..., n, n) to (...) twice, in float64.

    The error is some 1e-16 of the trace. A zero matrix gives zeros. Every number must be finite.

    >>> least, greatest = extremes(torch.tensor([[[2.0, 1.0], [1.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]]]))
    >>> least.round(decimals=12), greatest.round(decimals=12)
    (tensor([1., 0.], dtype=torch.float64), tensor([3., 0.], dtype=torch.float64))
    """
    n = matrices.shape[-1]
    flat = matrices.double().reshape(-1, n, n)
    trace = flat.diagonal(dim1=-2, dim2=-1).sum(-1)
    scaled = flat / torch.where(trace > 0, trace, 1.0)[:, None, None]  # a copy: it is written into
    step = max(1, _TOGETHER // n**2)
    parts = [tridiagonal(scaled[start : start + step]) for start in range(0, len(scaled), step)] or [
        tridiagonal(scaled)
    ]
    diagonal, beside = (torch.cat(one, dim=1) for one in zip(*parts, strict=True))
    step = max(1, _TOGETHER // (2 * _CUTS * n))
    pairs = zip(torch.split(diagonal, step, 1), torch.split(beside, step, 1), strict=True)
    least, greatest = (torch.cat(one) for one in zip(*(ends(*pair) for pair in pairs), strict=True))
    shape = matrices.shape[:-2]
    return (least * trace).view(shape), (greatest * trace).view(shape)


def tridiagonal(matrices: Tensor) -> tuple[Tensor, Tensor]:
    """Diagonal (n, N) and what stands beside it (n - 1, N) of tridiagonal matrices with the same eigenvalues as (N, n, n).

    The matrices are overwritten.
    """
    count, n, _ = matrices.shape
    diagonal, beside = matrices.new_empty(n, count), matrices.new_zeros(max(n - 1, 0), count)
    for k in range(n - 2):
        rest = matrices[:, k + 1 :, k + 1 :]
        v = matrices[:, k + 1 :, k].clone()
        first = v[:, 0].clone()
        length = torch.linalg.vector_norm(v, dim=1)
        to = torch.copysign(length, -first)  # away from the first number, so that nothing cancels
        v[:, 0] -= to
        half = length * (length + first.abs())  # half of v.v
        v /= torch.where(half > 0, half, 1.0).sqrt()[:, None]  # now the reflection is 1 - v v^T
        w = torch.bmm(rest, v[:, :, None])[:, :, 0]
        w -= v * (0.5 * (v * w).sum(1))[:, None]
        rest.baddbmm_(torch.stack([v, w], dim=2), torch.stack([w, v], dim=1), alpha=-1)
        diagonal[k], beside[k] = matrices[:, k, k], torch.where(half > 0, to, first)
    for k in range(max(n - 2, 0), n):
        diagonal[k] = matrices[:, k, k]
    if n > 1:
        beside[n - 2] = matrices[:, n - 1, n - 2]
    return diagonal, beside


def ends(diagonal: Tensor, beside: Tensor) -> tuple[Tensor, Tensor]:
    """Least and greatest eigenvalue, (N,) each, of tridiagonal matrices whose eigenvalues are in [0, 1].

    The greatest is 1 less the least of 1 less the matrix, so both are the same question: a point is below all eigenvalues
    where the elimination at that point has no negative pivot. An interval is cut into nine, and the cuts that are below say
    which of the nine to keep. A pivot of 0 gives an infinite next one, which is right; the squares beside the diagonal are
    kept off 0, so that it does not give 0 / 0. The pivots of all cuts of both ends lie in one tensor, written row by row:
    one operation for each row.
    """
    n, count = diagonal.shape
    squares = beside.square() + 1e-290
    both = torch.stack([diagonal, 1 - diagonal], dim=1)[:, :, None]  # (n, 2, 1, N)
    low = diagonal.new_full((2, 1, count), -_BEYOND)
    width = 1 + 2 * _BEYOND
    cuts = torch.arange(1, _CUTS + 1, dtype=diagonal.dtype, device=diagonal.device).view(1, -1, 1) / (_CUTS + 1)
    pivots = diagonal.new_empty(n, 2, _CUTS, count)
    for _ in range(_ROUNDS):
        torch.sub(both, low + width * cuts, out=pivots)
        for k in range(1, n):
            torch.addcdiv(pivots[k], squares[k - 1], pivots[k - 1], value=-1, out=pivots[k])
        width = width / (_CUTS + 1)
        low = low + width * (pivots.amin(0) > 0).sum(1, keepdim=True)
    least, rest = (low[:, 0] + width / 2).clamp(min=0)
    empty = (diagonal == 0).all(0)  # a zero matrix
    return torch.where(empty, 0.0, least), torch.where(empty, 0.0, 1 - rest)

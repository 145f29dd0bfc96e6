r"""SVGD with regularised diversity (thesis, Algorithm 5.3): particles where a density is high, apart from each other.

A particle moves by

    phi(x) = 1/n sum_j [ k(x_j, x) grad log p(x_j)  +  grad_{x_j} k(x_j, x)  -  delta grad_x k(x_j, x) ]

with the kernel k(x, y) = exp(-|x - y|^2 / h). The first term leads uphill, the other two apart: for this kernel they are
(1 + delta) 2 (x - x_j) / h k(x_j, x), so that nothing is driven apart at delta = -1, and delta = 0 is plain SVGD (Liu and
Wang, 2016). Proposition 5.1 prints the middle term with the opposite sign; the algorithm's is meant, for only then more delta
is more diverse.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from foresee.checks import whole
from foresee.errors import InputError

#: the thesis' values (5.3.4)
STEPS, LR, MOMENTUM = 1000, 0.1, 0.9


def svgd_rd(
    slope: Callable[[Tensor], Tensor],
    start: Tensor,
    *,
    delta: float = 0.0,
    steps: int = STEPS,
    lr: float = LR,
    momentum: float = MOMENTUM,
    bandwidth: float | None = None,
) -> Tensor:
    """Particles after `steps` updates, float64 of the shape (n, d) that they start with.

    Args:
        slope: the gradient of the log density at particles, (n, d) to (n, d).
        start: where they begin.
        delta: how much they are driven apart beyond plain SVGD (0); -1 not at all, below they are drawn together.
        steps: of gradient ascent.
        lr: its rate.
        momentum: its momentum.
        bandwidth: h; None: the median rule at each step (see `median_bandwidth`).

    >>> ends = svgd_rd(lambda x: -x, torch.tensor([[3.0], [-3.0]]), delta=0.0, steps=300)
    >>> bool(ends.abs().max() < 2), round(float(ends.sum()), 6) + 0.0
    (True, 0.0)
    """
    whole("svgd_rd: steps", steps, least=0)
    if start.ndim != 2 or not len(start):
        raise InputError(f"svgd_rd: particles of shape {tuple(start.shape)}; expected (particles, dimensions)")
    places = start.detach().double().clone()
    speed = torch.zeros_like(places)
    for _ in range(steps):
        speed = momentum * speed + direction(places, slope(places), delta, bandwidth)
        places = places + lr * speed
    if not bool(torch.isfinite(places).all()):
        raise FloatingPointError(f"svgd_rd: particles went to infinity at delta = {delta:g}; take a smaller rate")
    return places


def direction(places: Tensor, slopes: Tensor, delta: float = 0.0, bandwidth: float | None = None) -> Tensor:
    """Phi at each particle, (n, d): see above.

    >>> direction(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]), delta=5.0).tolist()
    [[3.0, 4.0]]
    """
    apart = places[:, None] - places[None]  # x_i - x_j
    squares = apart.square().sum(-1)
    h = median_bandwidth(squares) if bandwidth is None else bandwidth
    kernel = torch.exp(-squares / h)
    driven = (1 + delta) * 2 / h * (kernel[..., None] * apart).sum(1)
    return (kernel @ slopes + driven) / len(places)


def median_bandwidth(squares: Tensor) -> float:
    """The median rule: h is the median of squared distances / log(n + 1), so that neighbours weigh as much as a particle.

    Distances of particles to themselves do not count. The rule is usually written with log n, which is 0 for one particle.
    Where all particles coincide h is 1: any other would do as well, for nothing is driven anywhere.
    """
    count = len(squares)
    if count == 1:
        return 1.0
    others = squares[~torch.eye(count, dtype=torch.bool)]
    return float(others.median()) / math.log(count + 1) or 1.0

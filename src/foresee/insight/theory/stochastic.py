"""SiGeo's Theorem 1: how near stochastic gradient descent comes to a minimum, by its gradients' variance (Appendix B)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from foresee.checks import whole
from foresee.errors import InputError
from foresee.insight.flat import Flat
from foresee.insight.theory.statement import Condition, Statement, Step


def stochastic(
    network: nn.Module,
    batch: Any,
    minimum: Tensor,
    *,
    rates: Sequence[float],
    size: int = 4,
    repeats: int = 20,
    seed: int = 0,
) -> Statement:
    """Gradient descent on mini-batches of `size`, repeated; the loss of the mean weights against the theorem's bound.

    The loss is half the mean squared error of the batch; `minimum` are the weights (flat) of a minimum, `rates`
    decrease. The printed bound is |theta_0 - theta*| / (2 sum eta) + (1/2) sum sigma^2. What its proof gives is the
    square of the length, and weights eta^2 / sum eta before second moments E|g|^2 (Eq. 8 takes these for the
    variance, which leaves out |E g|^2); both are steps here. The proof needs convexity, which is tested where it is
    used: between the minimum and every weights passed.

    >>> x, y = torch.eye(4).repeat(3, 1), torch.arange(12.0)
    >>> best = torch.tensor([4.0, 5.0, 6.0, 7.0], dtype=torch.float64)  # the mean label of each kind of sample
    >>> found = stochastic(nn.Linear(4, 1, bias=False), (x, y), best, rates=[0.3 / (1 + i) ** 0.5 for i in range(30)])
    >>> found.step("as proved").holds, found.applies
    (True, True)
    """
    whole("size", size)
    whole("repeats", repeats)
    if not rates or any(not rate > 0 for rate in rates) or any(b > a for a, b in pairwise(rates)):
        raise InputError("rates: expected positive numbers that do not increase")
    flat = Flat(network, batch, seed=seed)
    goal = flat.targets
    if minimum.shape != flat.weights.shape:
        raise InputError(f"a minimum of {len(minimum)} numbers for {flat.size} parameters")

    def loss(weights: Tensor, chosen: Tensor | None = None) -> Tensor:
        off = (flat.outputs(weights) - goal).square().sum(1) / 2
        return (off if chosen is None else off[chosen]).mean()

    lowest, generator = float(loss(minimum)), torch.Generator().manual_seed(seed)
    gaps, moments, variances, convex = [], [], [], math.inf
    for _ in range(repeats):
        weights, total = flat.weights.clone(), torch.zeros_like(flat.weights)
        squared, spread = [], []
        for rate in rates:
            point = weights.detach().requires_grad_()
            (whole_slope,) = torch.autograd.grad(loss(point), point)
            value = float(loss(point).detach())
            convex = min(convex, lowest - value - float(whole_slope @ (minimum - point.detach())))
            chosen = torch.randint(len(flat), (size,), generator=generator)
            (slope,) = torch.autograd.grad(loss(point, chosen), point)
            squared.append(float(slope.square().sum()))
            spread.append(float((slope - whole_slope).square().sum()))
            total += rate * point.detach()
            weights = point.detach() - rate * slope
        gaps.append(float(loss(total / sum(rates))) - lowest)
        moments.append(squared)
        variances.append(spread)
    eta = torch.tensor(rates, dtype=torch.float64)
    second, variance = (torch.tensor(found, dtype=torch.float64).mean(0) for found in (moments, variances))
    length = float((flat.weights - minimum).norm())
    gap = float(torch.tensor(gaps).mean())
    travel = length / (2 * sum(rates))
    return Statement(
        "SiGeo, Theorem 1",
        f"the loss of the mean weights above the minimum, {len(rates)} steps, mean of {repeats} runs",
        (
            Step("as printed: |theta| / (2 sum eta) + sum of variances / 2", gap, travel + float(variance.sum()) / 2),
            Step(
                "as proved: |theta|^2 / (2 sum eta) + sum of eta^2 E|g|^2 / (2 sum eta)",
                gap, length**2 / (2 * sum(rates)) + float((eta.square() * second).sum()) / (2 * sum(rates)),
            ),
            Step("Eq. 8: E|g|^2 <= the variance, as printed", float(second.sum()), float(variance.sum()),
                 note="E|g|^2 is the variance and |E g|^2 together: equal only at a minimum"),
        ),
        (Condition("convex along the way (Lemma 1)", convex >= -1e-9 * max(1.0, lowest), convex),),
        {"gap": gap, "distance": length, "loss at the minimum": lowest, "variance": float(variance.mean())},
    )  # fmt: skip

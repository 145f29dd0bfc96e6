"""SiGeo's Theorem 2: how low the training loss can get, from the loss, the Fisher-Rao norm and the gradients so far."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from foresee.checks import whole
from foresee.errors import InputError
from foresee.insight.flat import Flat, product_with_hessian
from foresee.insight.theory.statement import Condition, Statement, Step


def achievable(
    network: nn.Module, batch: Any, minimum: Tensor, *, rate: float, steps: int = 10, seed: int = 0
) -> Statement:
    """Plain gradient descent for so many steps, and the theorem's lower bound of the loss at the minimum it goes to.

    The loss is half the mean squared error; `minimum` are the weights (flat) of a minimum theta*, H the Hessian there, F the
    empirical Fisher information, gradients of single samples. The expansion is exact for a loss that is quadratic around
    theta*; the bound with H needs Hoelder's inequality alone. The printed one puts F in the place of H, "the first term": an
    inequality only where theta^T H theta is at most theta^T F theta, which is a step of its own.

    >>> x, y = torch.eye(3), torch.tensor([1.0, 2.0, -1.0])
    >>> found = achievable(nn.Linear(3, 1, bias=False), (x, y), y.double(), rate=0.5)
    >>> found.step("expansion").holds, found.step("bound with H").holds, found.step("F for H").holds
    (True, True, False)
    """
    whole("steps", steps)
    if not rate > 0:
        raise InputError(f"rate {rate:g}: expected a positive number")
    flat = Flat(network, batch, seed=seed)
    goal = flat.targets
    if minimum.shape != flat.weights.shape:
        raise InputError(f"a minimum of {len(minimum)} numbers for {flat.size} parameters")

    def loss(weights: Tensor) -> Tensor:
        return (flat.outputs(weights) - goal).square().sum(1).mean() / 2

    weights, summed = flat.weights, 0.0
    slopes = torch.zeros_like(weights)
    for _ in range(steps):
        point = weights.detach().requires_grad_()
        (slope,) = torch.autograd.grad(loss(point), point)
        summed += float(slope.abs().sum())
        slopes += slope
        weights = point.detach() - rate * slope
    now, lowest = float(loss(weights).detach()), float(loss(minimum).detach())
    towards = product_with_hessian(loss, minimum, minimum)  # H theta*
    curved = float(weights @ product_with_hessian(loss, minimum, weights))
    start = float((minimum - 2 * flat.weights) @ towards) / 2
    at = minimum.detach().requires_grad_()
    each = [torch.autograd.grad(one, at, retain_graph=True)[0] for one in (flat.outputs(at) - goal).square().sum(1) / 2]
    fisher = float((torch.stack(each) @ weights).square().mean())
    exact = rate * float(slopes @ towards)
    most = rate * summed * float(towards.abs().max())
    flatness = float(torch.autograd.grad(loss(at), at)[0].norm())
    gap = now - lowest
    return Statement(
        "SiGeo, Theorem 2",
        f"the loss that can be reached, from what is known after {steps} steps",
        (
            Step("expansion: the gap by H", gap, curved / 2 + exact + start, "=", tolerance=1e-6,
                 note="what is missing is of third order in the distance"),
            Step("Hoelder: eta g . H theta* <= eta mu |H theta*|", exact, most),
            Step("F for H: theta^T H theta <= theta^T F theta", curved, fisher),
            Step("bound with H: the loss at the minimum", lowest, now - curved / 2 - most - start, ">=", tolerance=1e-6),
            Step("bound as printed, with F: the loss at the minimum", lowest, now - fisher / 2 - most - start, ">="),
        ),
        (Condition("the gradient is zero at the minimum", flatness < 1e-6, flatness),),
        {"loss now": now, "loss at the minimum": lowest, "FR norm": fisher, "theta^T H theta": curved, "mu": summed},
    )  # fmt: skip

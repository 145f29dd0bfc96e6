"""Theorem 7.2 and Corollary 7.2 of the thesis: the generalisation error by kappa and M_Trace (Appendix D.1.2, D.1.3)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from foresee.checks import whole
from foresee.errors import InputError
from foresee.insight.flat import Flat
from foresee.insight.theory.statement import Condition, Statement, Step
from foresee.probes.kernel import condition_number

#: the chance with which a bound may fail
DELTA = 0.05
#: Lipschitz constant of (f - y)^2 / 2 for f and y in [0, 1]
BETA = 1.0


def generalisation(
    network: nn.Module, batch: Any, held_out: Any, *, share: float = 0.9, steps: int = 50, seed: int = 0
) -> Statement:
    """Gradient descent on the batch, and the error on samples that were held out, against the bounds of the thesis.

    For a network of one output and labels in [0, 1]. The learning rate is `share` of m / lambda_max, the most that is
    allowed. The bound is D.33 with the constants of its proof: beta = 1, and in the place of 2 beta c / sqrt(n),
    whose c is unknown, twice how far the network came from its linearisation, which is what that term stands for.

    Corollary 7.2 bounds the training error by (m/2)(1 - eta M^2 / m)^(2t). Its proof takes Jensen's inequality in the
    wrong direction (D.36): the mean of the powers (1 - eta lambda_i / m)^(2t) is at least the power of their mean.
    The step is measured as printed, and beside it what does follow (as in NASI's Eq. 24): the same with power 1.

    >>> from foresee.insight.theory.papers_networks import tangent_network
    >>> torch.manual_seed(0) and None
    >>> x = torch.nn.functional.normalize(torch.randn(24, 5), dim=1)
    >>> y = (x[:, 0] > 0).double()
    >>> found = generalisation(tangent_network(5, width=128), (x[:8], y[:8]), (x[8:], y[8:]))
    >>> [step.name for step in found.failing]
    ['D.36 (Jensen), as printed']
    """
    whole("steps", steps)
    if not 0 < share <= 1:
        raise InputError(f"share {share:g} of the largest rate: expected more than 0 and at most 1")
    flat, other = Flat(network, batch, seed=seed), Flat(network, held_out, seed=seed)
    m, goal = len(flat), flat.targets
    if goal.shape[1] != 1:
        raise InputError(f"{goal.shape[1]} outputs: the theorem is about networks of one output")
    jacobian = flat.jacobian()
    theta = jacobian @ jacobian.mT
    values, vectors = torch.linalg.eigh(theta)
    kappa, least = float(condition_number(values)), float(values[0])
    if not math.isfinite(kappa):
        raise InputError("the kernel cannot be inverted: fewer samples, or samples that differ more")
    first = flat.outputs(flat.weights).detach()
    residual = (goal - first).flatten()
    needed = float(residual @ torch.linalg.solve(theta, residual))
    m_trace = math.sqrt(float(theta.trace()) / m)
    eta = share * m / float(values[-1])
    weights, moved, far, linear = flat.weights, 0.0, 0.0, 0.0
    straight, tangent = -residual, torch.zeros(flat.size, dtype=torch.float64)
    for point, outputs in flat.descent(eta / m, steps):  # beside it the linearised network, step by step
        weights, linear = point, float(straight.square().sum()) / (2 * m)
        moved = max(moved, float((outputs - goal).flatten().sub(straight).abs().max()))
        far = max(far, float(tangent.norm()))
        tangent = tangent - eta / m * jacobian.mT @ straight
        straight = straight - eta / m * theta @ straight
    trained, unseen = _error(flat, weights), _error(other, weights)
    powers = (1 - eta / m * values).abs() ** (2 * steps)
    mean_rate = 1 - eta / m * m_trace**2
    chance = 3 * math.sqrt(math.log(2 / DELTA) / (2 * m))
    gap = 2 * BETA * kappa * math.sqrt(m * min(least, 1.0)) / m_trace
    inverse, largest = float((1 / values).sum()), max(1.0, float(residual.square().max()))
    steps_found = (
        Step("D.25: |theta_t - theta_0|, linearised", far, math.sqrt(needed)),
        Step("D.29: |Theta|_tr |Theta^-1|_tr <= m^2 kappa", float(values.sum()) * inverse, m**2 * kappa),
        Step("D.32: y^T Theta^-1 y <= m^2 kappa / M^2", needed, m**2 * kappa / m_trace**2 * largest),
        Step("Theorem 7.2: error on unseen samples", unseen, trained + gap + 2 * BETA * moved + chance),
        Step(
            "D.35: training error of the linearised network", linear,
            float(((vectors.mT @ residual).square() * powers).sum()) / (2 * m), "=", tolerance=1e-6,
        ),
        Step(
            "D.36 (Jensen), as printed", float(powers.mean()), mean_rate ** (2 * steps),
            note="x^(2t) is convex: the mean of powers is at least the power of the mean",
        ),
        Step("D.36 with power 1, as it follows", float(powers.mean()), mean_rate),
        Step("Corollary 7.2 with power 1", unseen, m / 2 * mean_rate + gap + 2 * BETA * moved + chance),
    )  # fmt: skip
    within = bool(((goal >= 0) & (goal <= 1)).all() and ((first >= 0) & (first <= 1)).all())
    longest = max(float(part.flatten(1).norm(dim=1).max()) for part in flat.batch.parts)
    printed = m / 2 * mean_rate ** (2 * steps) + gap + 2 * BETA * moved + chance
    return Statement(
        "Thesis, Theorem 7.2 and Corollary 7.2",
        f"the error on unseen samples after {steps} steps on {m}",
        steps_found,
        (
            Condition("|x| <= 1", longest <= 1 + 1e-6, longest),
            Condition("f(x, theta_0) and y in [0, 1]", within),
            Condition("the least eigenvalue is at most 1", least <= 1, least),
        ),
        {
            "kappa": kappa, "m_trace": m_trace, "rate": eta, "training error": trained, "error on unseen samples": unseen,
            "gap of the bound": gap, "left its linearisation by": moved, "Corollary 7.2 as printed": printed,
        },
        (f"the gap's bound is {gap / max(unseen - trained, 1e-12):.3g} times the gap measured" if unseen > trained else
         "the error on unseen samples is not above the training error",),
    )  # fmt: skip


def _error(flat: Flat, weights: Tensor) -> float:
    """The mean of (f - y)^2 / 2."""
    return float((flat.outputs(weights) - flat.targets).square().mean().detach()) / 2

"""NASI's Proposition 1: the training loss is at most m n^2 (1 - eta mean eigenvalue)^q + epsilon (Appendix A.3)."""

from __future__ import annotations

import math
from typing import Any

from torch import nn

from foresee.insight.flat import Flat
from foresee.insight.kernels import loss_curve, predicted_losses
from foresee.insight.theory.statement import Condition, Statement, Step
from foresee.probes.kernel import spectrum


def training_bound(network: nn.Module, batch: Any, *, share: float = 0.99, steps: int = 50, seed: int = 0) -> Statement:
    """Gradient descent with the loss (1/m) |Y - f|^2, its linearisation's closed form, and the bound by the trace norm.

    The rate is `share` of 1 / lambda_max; for t of at least half a step q = 1. The epsilon of the paper holds an
    unknown constant: here its place is taken by what it bounds, how far the network's loss came from that of its
    linearisation. Eq. 4 has Y where the residual Y - f_0 stands: the same for networks that start at 0. Both are
    measured; the bound is claimed of the latter here.

    >>> import torch
    >>> from foresee.insight.theory.papers_networks import tangent_network
    >>> torch.manual_seed(0) and None
    >>> x = torch.nn.functional.normalize(torch.randn(6, 4), dim=1)
    >>> training_bound(tangent_network(4, width=64, outputs=2), (x, torch.tensor([0, 1, 1, 0, 0, 1]))).holds
    True
    """
    flat = Flat(network, batch, seed=seed)
    kernel, goal = flat.kernel(), flat.targets
    values = spectrum(kernel)
    m, n = goal.shape
    eta = share / float(values[-1])
    residual = (flat.outputs(flat.weights) - goal).detach()
    curve = loss_curve(network, batch, rate=eta, steps=steps, seed=seed)
    linear = predicted_losses(kernel, residual.flatten(), eta, steps, m)
    from_zero = predicted_losses(kernel, -goal.flatten(), eta, steps, m)
    mean = float(values.mean())
    largest = max(1.0, float(residual.abs().max())) ** 2
    powers = (1 - eta * values).abs() ** (2 * steps)
    bound = m * n**2 * (1 - eta * mean)
    epsilon = abs(curve.measured[-1] - float(linear[-1]))
    slope = 2 * math.sqrt(n / m) * (math.sqrt(largest) + curve.moved)
    flow = (1 - eta * values).abs() ** 0.5  # a quarter of a step
    steps_found = (
        Step("Eq. 24: sum of (1 - eta lambda)^(2t), t >= 1/2", float(powers.sum()), m * n * (1 - eta * mean)),
        Step("Eq. 25: the same at t = 1/4 (Jensen)", float(flow.sum()), m * n * (1 - eta * mean) ** 0.5),
        Step("Eq. 26: (u . Y)^2 <= m n", float(goal.square().sum()), float(m * n)),
        Step("Eq. 27: loss of the linearised network", float(linear[-1]), bound * largest),
        Step("Eq. 30: loss of the network", curve.measured[-1], bound * largest + epsilon),
        Step("Lemma 1: the loss moves no more than its slope says", epsilon, slope * curve.moved),
    )
    longest = max(float(part.flatten(1).norm(dim=1).max()) for part in flat.batch.parts)
    within = bool(((goal >= 0) & (goal <= 1)).all())
    return Statement(
        "NASI, Proposition 1",
        f"the training loss after {steps} steps against its bound by the mean eigenvalue of the kernel",
        steps_found,
        (
            Condition("|x| <= 1", longest <= 1 + 1e-6, longest),
            Condition("labels in [0, 1]", within),
            Condition("the least eigenvalue is positive", float(values[0]) > 0, float(values[0])),
        ),
        {
            "rate": eta, "mean eigenvalue": mean, "loss": curve.measured[-1], "loss by Eq. 4": float(linear[-1]),
            "loss by Eq. 4 from outputs of 0": float(from_zero[-1]), "bound": bound, "epsilon measured": epsilon,
        },
    )  # fmt: skip

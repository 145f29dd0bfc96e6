"""Theorem 7.1 of the thesis: M_Grad, M_SNIP and M_GraSP are at most a constant times M_Trace (Appendix D.1.1), and M_KNAS."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from foresee.errors import UnsupportedError
from foresee.insight.flat import Flat
from foresee.insight.theory.statement import Condition, Statement, Step
from foresee.probes.losses import Loss, choose

#: the chance with which the thesis' bound on the length of standard normal weights may fail
DELTA = 0.05


def connections(network: nn.Module, batch: Any, *, loss: Loss | str | None = None, seed: int = 0) -> Statement:
    """The three inequalities and the remark's on a network, each with the constant that its proof has.

    beta is the largest gradient of a sample's loss by its outputs, |theta| the length of the weights, and the
    Hessians count by what they do to their own samples' gradients, max |H g| / |g|, which is at most their largest
    norm, as the proof has it. All of these are measured here, so nothing is left to chance: every step holds on every
    network, coupled by BatchNorm or not, if the code is right. M_Trace is that of all outputs. The thesis bounds
    |theta| by chance, for standard normal weights: whether that bound holds here is a condition.

    >>> torch.manual_seed(0) and None
    >>> net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
    >>> found = connections(net, (torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])))
    >>> found.holds, [step.name for step in found.steps][:2]
    (True, ['M_Grad <= beta M_Trace', 'M_SNIP <= |theta| beta M_Trace'])
    """
    flat = Flat(network, batch, seed=seed)
    labels = flat.batch.labels
    if labels is None:
        raise UnsupportedError("no labels in the batch: hand over (inputs, labels)")
    outputs = flat.outputs(flat.weights).detach()
    chosen = choose(loss, outputs, [labels])
    gradients, curved = _gradients(flat, chosen)
    slopes = _slopes(outputs, labels, chosen)
    jacobian = flat.jacobian()
    m_trace = math.sqrt(float(jacobian.square().sum()) / len(flat))
    summed = jacobian.view(len(flat), -1, flat.size).sum(1)
    lengths = gradients.norm(dim=1)
    beta, theta = float(slopes.norm(dim=1).max()), float(flat.weights.norm())
    some = lengths > 0
    gain = float((curved.norm(dim=1)[some] / lengths[some]).max()) if bool(some.any()) else 0.0
    of_sums = math.sqrt(float(summed.square().sum()) / len(flat))
    mean = gradients.mean(0)
    steps = (
        Step("M_Grad <= beta M_Trace", float(mean.norm()), beta * m_trace),
        Step("M_SNIP <= |theta| beta M_Trace", float((flat.weights @ mean).abs()), theta * beta * m_trace),
        Step(
            "M_GraSP <= |theta| |H| beta M_Trace",
            float((curved @ flat.weights).mean().abs()),
            theta * gain * beta * m_trace,
        ),
        Step("M_KNAS <= M_Trace", float(summed.mean(0).norm()), of_sums, note="of the sums of the outputs, both"),
    )
    usual = math.sqrt(flat.size + 2 * math.sqrt(flat.size * math.log(1 / DELTA)) + 2 * math.log(1 / DELTA))
    return Statement(
        "Thesis, Theorem 7.1",
        "each gradient metric is at most a constant times M_Trace",
        steps,
        (Condition(f"|theta| is at most what standard normal weights have, {usual:.4g} (D.4)", theta <= usual, theta),),
        {"m_trace": m_trace, "beta": beta, "theta": theta, "hessian": gain, "parameters": float(flat.size)},
    )


def _gradients(flat: Flat, loss: Callable[[Tensor, Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """The gradient of each sample's loss, and its Hessian times that: (samples, parameters) both."""
    point = flat.weights.detach().requires_grad_()
    first, second = [], []
    for one in flat.losses(point, loss):
        (slope,) = torch.autograd.grad(one, point, create_graph=True)
        first.append(slope.detach())
        length = slope.square().sum() / 2
        curved = torch.autograd.grad(length, point, retain_graph=True)[0] if length.requires_grad else 0 * slope
        second.append(curved.detach())
    return torch.stack(first), torch.stack(second)


def _slopes(outputs: Tensor, labels: Tensor, loss: Loss) -> Tensor:
    """The gradient of each sample's loss by its own outputs: (samples, outputs)."""
    given = outputs.clone().requires_grad_()
    total = torch.stack([loss(given[i : i + 1], labels[i : i + 1]) for i in range(len(given))]).sum()
    return torch.autograd.grad(total, given)[0]

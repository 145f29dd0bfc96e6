"""Proxies that read one gradient of the loss: snip, grad_norm."""

from __future__ import annotations

import torch
from torch import Tensor

from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy
from foresee.proxies.gradients.synflow import saliency

_NEEDS = Needs(labels=True, backward=True, batch=64, looks=("batch.gradients",))
_PAPER = "as in Abdelfattah et al., Zero-Cost Proxies for Lightweight NAS, ICLR 2021"


@proxy(
    "snip",
    needs=_NEEDS,
    paper=f"Lee et al., SNIP: Single-shot network pruning based on connection sensitivity, ICLR 2019, {_PAPER}",
    cost="1 forward + backward run",
)
def snip(probe: Probe) -> Tensor:
    r"""Sum over weights of |w dL/dw|: how much the loss would feel the loss of each weight.

    $$
    \sum_w \left\vert w \frac{\partial L}{\partial w} \right\vert
    $$

    Formula: sum over the weights of convolutions and linear layers of |w g|, g the gradient of the mean loss L of one batch.
    Frozen weights, and those without influence on the loss, count 0.

    Needs labels. BatchNorm: batch statistics. Gradients in the network's own type, the sum in float64.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.randn(4, 2), torch.tensor([0, 1, 2, 0])), "snip").ok
    True
    """
    weights = probe.weights
    terms = [saliency(weights[name].flatten(), g.flatten()) for name, g in probe.batch.weight_gradients.items()]
    return torch.stack(terms).sum()


@proxy("grad_norm", needs=_NEEDS, paper=_PAPER.removeprefix("as in "), cost="1 forward + backward run")
def grad_norm(probe: Probe) -> Tensor:
    r"""Sum over layers of the Euclidean norm of the gradient of the loss.

    $$
    \sum_\ell \left\Vert \frac{\partial L}{\partial W_\ell} \right\Vert_2
    $$

    Formula: sum over convolutions and linear layers of ||g||_2, g the gradient of the mean loss of one batch by the layer's
    weights: a sum of norms, not the norm of the whole gradient.

    Needs labels. BatchNorm: batch statistics. Gradients in the network's own type, the norms in float64.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.randn(4, 2), torch.tensor([0, 1, 2, 0])), "grad_norm").ok
    True
    """
    return torch.stack([g.flatten().double().norm() for g in probe.batch.weight_gradients.values()]).sum()

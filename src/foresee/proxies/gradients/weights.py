"""The plainest readings of the weights: their signed product with the gradient, and their length."""

from __future__ import annotations

import torch
from torch import Tensor

from foresee.probes.derivatives import product
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy

_PAPER = "Abdelfattah et al., Zero-Cost Proxies for Lightweight NAS, ICLR 2021"


@proxy(
    "plain",
    needs=Needs(labels=True, backward=True, batch=64, looks=("batch.gradients",)),
    paper=f"Mozer and Smolensky, Skeletonization, NeurIPS 1988, as in {_PAPER}",
    cost="1 forward + backward run",
)
def plain(probe: Probe) -> Tensor:
    r"""Sum over weights of w dL/dw, with its sign: how the loss changes when all weights grow by one factor.

    $$
    \sum_w w \frac{\partial L}{\partial w}
    $$

    Formula: sum over the weights of convolutions and linear layers of w g, g the gradient of the mean loss L of one batch.
    The terms of a convolution that BatchNorm follows cancel: scaling it changes nothing. Frozen weights, and those without
    influence on the loss, count 0.

    Needs labels. BatchNorm: batch statistics. Gradients in the network's own type, the sum in float64.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.randn(4, 2), torch.tensor([0, 1, 2, 0])), "plain").ok
    True
    """
    weights = probe.weights
    terms = [product(weights[name].flatten(), g.flatten()) for name, g in probe.batch.weight_gradients.items()]
    return torch.stack(terms).sum()


@proxy("l2_norm", needs=Needs(data=False, held=0), paper=_PAPER, cost="nothing")
def l2_norm(probe: Probe) -> Tensor:
    r"""Sum over layers of the Euclidean norm of the weights.

    $$
    \sum_\ell \Vert W_\ell \Vert_2
    $$

    Formula: sum over convolutions and linear layers of ||W||_2, trainable ones, whether or not they are used: a sum of norms,
    not the norm of all weights.

    Needs no data. The norms are in float64.

    >>> from foresee import score
    >>> layer = torch.nn.Linear(4, 1)
    >>> _ = torch.nn.init.ones_(layer.weight)
    >>> score(layer, torch.zeros(1, 4), "l2_norm").value
    2.0
    """
    return torch.stack([weight.flatten().double().norm() for weight in probe.weights.values()]).sum()

"""GraSP: how removing a weight would change the flow of gradients."""

from __future__ import annotations

import torch
from torch import Tensor

from foresee.errors import UnsupportedError
from foresee.probes.derivatives import product, refuse_dead_ends, twice_differentiable
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy


@proxy(
    "grasp",
    needs=Needs(labels=True, backward=True, batch=64, held=8.0),
    paper="Wang et al., Picking Winning Tickets Before Training by Preserving Gradient Flow, ICLR 2020, "
    "summed as in Abdelfattah et al., Zero-Cost Proxies for Lightweight NAS, ICLR 2021",
    cost="1 forward + backward run, and a backward run through both",
)
def grasp(probe: Probe) -> Tensor:
    r"""Minus the sum over weights of w (H g): what the weights do for the norm of the gradient, to first order.

    $$
    -\sum_w w (H g)_w, \quad g = \frac{\partial L}{\partial w}, \quad H = \frac{\partial^2 L}{\partial w^2}
    $$

    Formula: sum over the weights of convolutions and linear layers of -w (H g), g the gradient of the mean loss of one batch
    by these weights, H its Hessian; H g is the gradient of g.g at a held g. Frozen weights, and those without influence on
    the loss, count 0. That more is better holds on some benchmarks only.

    Needs labels, and layers that can be differentiated twice. BatchNorm: batch statistics, which are differentiated through.
    Derivatives in the network's own type, the sum in float64.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.randn(4, 2), torch.tensor([0, 1, 2, 0])), "grasp").ok
    True
    """
    names = list(probe.weights)
    with probe.contact() as network, torch.enable_grad(), twice_differentiable():
        parameters = dict(network.named_parameters())
        loss = probe.batch.loss_of(network)
        if not loss.requires_grad:
            raise UnsupportedError("the outputs do not depend on the weights or inputs in a differentiable way")
        found = torch.autograd.grad(loss, [parameters[n] for n in names], create_graph=True, allow_unused=True)
        reached = {name: g for name, g in zip(names, found, strict=True) if g is not None}
        if not reached:
            raise UnsupportedError("no weight of a convolution or linear layer has an influence on the loss")
        weights = [parameters[name] for name in reached]
        length = torch.stack([(g.detach() * g).sum() for g in reached.values()]).sum()
        refuse_dead_ends(length)
        curved = (
            torch.autograd.grad(length, weights, allow_unused=True) if length.requires_grad else [None] * len(weights)
        )
        both = zip(weights, curved, strict=True)
        terms = [product(w.detach().flatten(), h.flatten()) for w, h in both if h is not None]
    if not terms:
        raise UnsupportedError("the loss is linear in every weight: there is no Hessian")
    return -torch.stack(terms).sum()

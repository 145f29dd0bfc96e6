"""GraSP: how removing a weight would change the flow of gradients."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from foresee.errors import UnsupportedError
from foresee.proxies.base import Needs, proxy
from foresee.proxies.probe import Probe
from foresee.proxies.weights import product


@proxy(
    "grasp",
    needs=Needs(labels=True, backward=True, batch=64),
    paper="Wang et al., Picking Winning Tickets Before Training by Preserving Gradient Flow, ICLR 2020, "
    "summed as in Abdelfattah et al., Zero-Cost Proxies for Lightweight NAS, ICLR 2021",
    cost="1 forward + backward run, and a backward run through both",
)
def grasp(probe: Probe) -> Tensor:
    """Minus the sum over weights of w (H g): what the weights do for the length of the gradient, to first order.

    Formula: sum over the weights of convolutions and linear layers of -w (H g), g the gradient of the mean loss of one batch
    by these weights, H its Hessian; H g is the gradient of g.g at a held g. Frozen weights, and those without influence on
    the loss, count 0. That more is better holds on some benchmarks only.

    Needs labels, and layers that can be differentiated twice. BatchNorm: batch statistics, which are differentiated through.
    Derivatives in the network's own type, the sum in float64.

    >>> from foresee.proxies import score
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


def refuse_dead_ends(start: Tensor) -> None:
    """Look for functions that declare themselves differentiable once only: torch would step over them in silence."""
    seen, waiting = set(), [start.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        if node.name().endswith("::Error"):
            raise UnsupportedError("a function of this network can be differentiated once only")
        seen.add(node)
        waiting += [following for following, _ in node.next_functions]


@contextmanager
def twice_differentiable() -> Iterator[None]:
    """Plain kernels where torch has fused ones without a second derivative; what still has none is unsupported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns about Intel GPUs whenever these flags are touched
        try:
            with sdpa_kernel(SDPBackend.MATH):
                yield
        except (RuntimeError, NotImplementedError) as error:
            text = str(error).splitlines()[0] if str(error) else ""
            if "not implemented" not in text and "double backward" not in text:
                raise
            raise UnsupportedError(f"a layer of this network cannot be differentiated twice ({text})") from error

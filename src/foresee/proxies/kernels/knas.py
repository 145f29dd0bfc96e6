"""KNAS: whether gradients early and late in a stream of batches point the same way."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from foresee.errors import InputError, UnsupportedError
from foresee.probes.probe import Pass, Probe
from foresee.probes.subject import refuse_complex
from foresee.proxies.base import Needs, proxy


@proxy(
    "knas",
    needs=Needs(labels=True, backward=True, batches=50, batch=1),
    paper="Xu et al., KNAS: Green Neural Architecture Search, ICML 2021",
    equation="as released (MGM)",
    cost="50 forward + backward runs of one batch each",
)
def knas(probe: Probe, *, batches: int = 50, parameters: int = 11, entries: int = 50) -> Tensor:
    r"""Covariance over time of the gradients of two halves of a stream of batches, summed over a few entries.

    $$
    \sum_e \frac{1}{k^2} \sum_{i = 1}^{k/2} \left( g_{i, e} - \bar{g}_{1, e} \right)
    \left( g_{i + k/2, e} - \bar{g}_{2, e} \right)
    $$

    Formula: sum over entries of (1/k^2) sum over i of (g[i] - mean of the first half) (g[i + k/2] - mean of the second half),
    i = 1 .. k/2, g[i] the gradient of the mean loss of batch i. Entries: the first 50 of each of the first 11 parameters that
    have at least 50. k = 50 batches of one sample each; no weight changes in between. This is the number of the public code,
    not the paper's mean of the Gram matrix; for that see `m_knas`.

    Settings: `batches` k (even), `parameters`, `entries`.

    Needs labels and k batches; a single batch is split into k equal parts. BatchNorm: batch statistics, of each small batch
    by itself. Gradients in the network's own type, the covariance in float64.

    >>> from foresee import score
    >>> net = torch.nn.Linear(20, 5)
    >>> score(net, (torch.randn(50, 20), torch.arange(50) % 5), "knas").ok
    True
    """
    if batches < 2 or batches % 2:
        raise InputError(f"batches {batches}: an even number of at least 2 is needed, the halves are compared")
    stream = probe.at_least(batches)[:batches]
    with probe.contact() as network, torch.enable_grad():
        large = [p for p in network.parameters() if p.requires_grad and p.numel() >= entries][:parameters]
        refuse_complex({f"parameter {number}": one for number, one in enumerate(large)})
        if not large:
            raise UnsupportedError(f"no trainable parameter has {entries} entries")
        return agreement(torch.stack([_gradient(one, network, large, entries) for one in stream]))


def _gradient(one: Pass, network: nn.Module, large: list[nn.Parameter], entries: int) -> Tensor:
    """The first entries of the gradient of each parameter, one after the other; 0 without influence."""
    loss = one.loss_of(network)
    if not loss.requires_grad:
        raise UnsupportedError("the outputs do not depend on the weights in a differentiable way")
    found = torch.autograd.grad(loss, large, allow_unused=True)
    pairs = zip(large, found, strict=True)
    return torch.cat([(torch.zeros_like(p) if g is None else g).flatten()[:entries] for p, g in pairs])


def agreement(gradients: Tensor) -> Tensor:
    """Covariance of the two halves over k^2, summed over entries: (..., k, entries) to (...)."""
    first, second = gradients.double().chunk(2, dim=-2)
    first, second = (half - half.mean(-2, keepdim=True) for half in (first, second))
    return (first * second).sum((-1, -2)) / gradients.shape[-2] ** 2

"""ZiCo: how steady the gradients of each layer are over batches."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from foresee.errors import UnsupportedError
from foresee.probes.across import across
from foresee.probes.pieces import together
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy


@proxy(
    "zico",
    needs=Needs(labels=True, backward=True, batches=2, batch=128, looks=("batches.gradients",)),
    paper="Li et al., ZiCo: Zero-Shot NAS via Inverse Coefficient of Variation on Gradients, ICLR 2023",
    cost="1 forward + backward run per batch",
)
def zico(probe: Probe) -> Tensor:
    r"""Sum over layers of the log of the summed ratio of mean absolute gradient to its deviation over batches.

    $$
    \sum_\ell \log \sum_{w \in \ell} \frac{\mu_w}{\sigma_w}, \quad
    \mu_w = \frac{1}{k} \sum_{i = 1}^{k} \vert g_{i, w} \vert, \quad
    \sigma_w^2 = \frac{1}{k} \sum_{i = 1}^{k} (g_{i, w} - \bar{g}_w)^2
    $$

    Formula: sum over layers of log( sum over entries of mean_i |g_i| / std_i(g_i) ), i over the batches, std with 1/k; g_i is
    the gradient of the loss of batch i by the weights of a convolution or linear layer. Entries that do not vary are left
    out, and layers where none does.

    Needs labels and at least 2 batches; a single batch is split into 2 equal halves (an odd sample is left out). With 2
    batches near-ties dominate the value; 4 are calmer. BatchNorm: batch statistics. Gradients in the network's own type,
    statistics in float64.

    >>> from foresee import score
    >>> net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 3))
    >>> score(net, (torch.randn(8, 3, 2, 2), torch.arange(8) % 3), "zico").ok
    True
    """
    batches = [run.weight_gradients for run in probe.at_least(2)]
    layers = [name for name in batches[0] if all(name in gradients for gradients in batches)]
    terms = across(batches, steadiness, layers)
    if not terms:
        raise UnsupportedError("no layer has a gradient in every batch")
    ratios = torch.stack([sum_of([terms[name] for name in names]) for names in together(probe.network, terms)])
    if not bool(ratios.any()):
        raise FloatingPointError("the gradients of all batches are the same: their deviation is 0 everywhere")
    return torch.where(ratios == 0, 0.0, ratios.log()).sum()


def sum_of(terms: Sequence[Tensor]) -> Tensor:
    """Their sum; a single one as it is."""
    return terms[0] if len(terms) == 1 else torch.stack(list(terms)).sum()


def steadiness(gradients: Tensor) -> Tensor:
    """Sum over entries of mean |g| / std g over the batches, entries without deviation left out: (..., k, n) to (...)."""
    rows = gradients.double()
    # Measured from the first batch, so that equal gradients have a deviation of exactly 0. Written out: `std` goes over the
    # few batches of each entry one by one, at seven times the cost.
    apart = rows - rows[..., :1, :]
    deviation = (apart - apart.mean(dim=-2, keepdim=True)).square().mean(dim=-2).sqrt()
    return torch.where(deviation == 0, 0.0, rows.abs().mean(dim=-2) / deviation).sum(-1)

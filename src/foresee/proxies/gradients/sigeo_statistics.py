"""What SiGeo's theorems speak of, each alone: the Fisher-Rao norm, the size and spread of gradients, the current loss."""

from __future__ import annotations

import torch
from torch import Tensor

from foresee.errors import UnsupportedError
from foresee.probes.across import across
from foresee.probes.derivatives import product
from foresee.probes.probe import Probe
from foresee.probes.steps import Trail, frozen
from foresee.proxies.base import Needs, proxy

PAPER = "Zheng et al., SiGeo: Sub-One-Shot NAS via Information Theory and Geometry of Loss Landscape, 2023"
NEEDS = Needs(labels=True, backward=True, batches=4, batch=64, looks=("batches.gradients", "batches.loss"))
COST = "1 forward + backward run per batch"


@proxy("fisher_rao", needs=NEEDS, paper=PAPER, equation="Eq. 7, second term, Appendix E", cost=COST)
def fisher_rao(probe: Probe) -> Tensor:
    r"""Fisher-Rao norm: mean over batches of the squared product of all parameters with their gradient.

    $$
    \frac{1}{k} \sum_{i = 1}^{k} (\theta \cdot g_i)^2
    $$

    Formula: (1/k) sum over k batches of (theta.g_i)^2, over all trainable parameters. The products of a layer that BatchNorm
    follows vanish. The parts of the score say which kinds of layers carry it (`share.Linear`, `share.BatchNorm2d`, ...): the
    sizes of their parameters' products |theta_m.g_m|, summed over the batches, as shares of the sum over all. `carriers`
    gives the same by parameter.

    Needs labels and 4 batches; of fewer than 4 the first is split into 4. BatchNorm: batch statistics. Gradients in the
    network's own type, the rest in float64.

    >>> from foresee import score
    >>> net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 3))
    >>> list(score(net, (torch.randn(8, 3, 2, 2), torch.arange(8) % 3), "fisher_rao").parts)
    ['share.Linear']
    """
    trail = frozen(probe, 4)
    kinds: dict[str, float] = {}
    modules = dict(probe.network.named_modules())
    for name, share in carriers(trail).items():
        kind = f"share.{type(modules[name.rpartition('.')[0]]).__name__}"
        kinds[kind] = kinds.get(kind, 0.0) + share
    probe.note(**kinds)
    return fisher_rao_norm(trail)


@proxy("mean_abs_gradient", needs=NEEDS, paper=PAPER, equation="Eq. 7, mu; Theorem 2", cost=COST)
def mean_abs_gradient(probe: Probe) -> Tensor:
    r"""Sum over all parameters of the mean over batches of the absolute gradient of the loss.

    $$
    \Vert \mu \Vert_1, \quad \mu = \frac{1}{k} \sum_{i = 1}^{k} \vert g_i \vert
    $$

    Formula: || mu ||_1, mu = (1/k) sum over k batches of |g_i|, over all trainable parameters that have a gradient.

    Needs labels and 4 batches; of fewer than 4 the first is split into 4. BatchNorm: batch statistics. Gradients in the
    network's own type, the sum in float64.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.randn(8, 2), torch.arange(8) % 3), "mean_abs_gradient").ok
    True
    """
    trail = frozen(probe, 4)
    return torch.stack([trail.rows(name).abs().mean(0).sum() for name in reached(trail)]).sum()


@proxy("gradient_spread", direction="lower", needs=NEEDS, paper=PAPER, equation="Eq. 7, sigma; Theorem 1", cost=COST)
def gradient_spread(probe: Probe) -> Tensor:
    r"""Sum over all parameters of the standard deviation over batches of the gradient of the loss; less is better.

    $$
    \Vert \sigma \Vert_1, \quad \sigma^2 = \frac{1}{k} \sum_{i = 1}^{k} (g_i - \bar{g})^2
    $$

    Formula: || sigma ||_1, sigma = std over k batches of g_i, with 1/k, over all trainable parameters that have a gradient.
    By Theorem 1 less of it lets the training loss fall further; it grows with the number of parameters too.

    Needs labels and 4 batches; of fewer than 4 the first is split into 4. BatchNorm: batch statistics. Gradients in the
    network's own type, the sum in float64.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.randn(8, 2), torch.arange(8) % 3), "gradient_spread").ok
    True
    """
    trail = frozen(probe, 4)
    return torch.stack([trail.rows(name).std(0, correction=0).sum() for name in reached(trail)]).sum()


@proxy("current_loss", direction="lower", needs=NEEDS, paper=PAPER, equation="Eq. 7, third term", cost=COST)
def current_loss(probe: Probe) -> Tensor:
    r"""The loss of the last batch, before any training on these batches; less is better.

    $$
    L(\theta; D_k)
    $$

    Formula: L(theta; D_k), the loss of the last of k batches. It tells something after a warm-up only.

    Needs labels and 4 batches; of fewer than 4 the first is split into 4. BatchNorm: batch statistics. In the network's
    own type.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.randn(8, 2), torch.arange(8) % 3), "current_loss").ok
    True
    """
    return probe.at_least(4)[-1].loss


def fisher_rao_norm(trail: Trail) -> Tensor:
    """(1/k) sum_i (theta.g_i)^2."""
    return torch.stack(list(parameter_products(trail).values())).sum(0).square().mean()


def parameter_products(trail: Trail) -> dict[str, Tensor]:
    """The product of each parameter with its gradient, by batch: (batches,)."""
    return across(trail.gradients, product, reached(trail), trail.theta)


def carriers(trail: Trail) -> dict[str, float]:
    """Which parameters carry the Fisher-Rao norm: |theta_m.g_m| summed over the batches, as shares of all, greatest first."""
    sizes = {name: float(products.abs().sum()) for name, products in parameter_products(trail).items()}
    total = sum(sizes.values())
    return {name: sizes[name] / total if total else 0.0 for name in sorted(sizes, key=lambda name: -sizes[name])}


def reached(trail: Trail) -> list[str]:
    """Parameters with a gradient in every batch; an error where there are none."""
    if not trail.reached:
        raise UnsupportedError("no parameter has a gradient in every batch")
    return trail.reached

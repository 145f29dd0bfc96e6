"""Counts of activation patterns: SWAP's over units, and TE-NAS' linear regions over samples."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from foresee.errors import InputError, UnsupportedError
from foresee.probes.patterns import Pattern
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy
from foresee.proxies.patterns.naswot import agreements

_PAPER = "Peng et al., SWAP-NAS: Sample-Wise Activation Patterns for Ultra-fast NAS, ICLR 2024"
_NEEDS = Needs(batch=16, looks=("batch.patterns",))
_VARIANTS = {"reference": {"maps_only": True}}
_WORD = 62  # samples whose signs fit into one whole number


@proxy("swap", needs=_NEEDS, paper=_PAPER, cost="1 forward run", variants=_VARIANTS, initialise="normal")
def swap(probe: Probe, *, maps_only: bool = False) -> Tensor:
    r"""Number of different patterns that units show over the samples of a batch; no labels.

    $$
    \left\vert \lbrace (a_u(x_1), \ldots, a_u(x_B)) \rbrace_u \right\vert, \quad
    a_u(x) = [ z_u(x) > 0 ]
    $$

    Formula: the number of distinct rows of the matrix (units, samples) that says where a unit is active, a unit being one
    number of the output of a ReLU-like activation (module or function). At most 2^samples.

    Settings: `maps_only` counts only the units of plain ReLUs whose input is a batch of maps, (samples, channels, height,
    width). Variant `reference`, the public code's rule, does. The weights are drawn from N(0, 1) (`initialise` says
    otherwise); the paper averages over 32 draws (`repeats=32`).

    Needs a batch; labels are never read. BatchNorm: batch statistics. The count is exact.

    >>> from foresee import score
    >>> net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
    >>> 2 <= score(net, torch.randn(3, 3, 8, 8), "swap").value <= 8
    True
    """

    def count() -> Tensor:
        patterns = _patterns(probe, maps_only)
        return distinct(torch.cat([pack(pattern.positive.flatten(1)) for pattern in patterns], dim=-1)).double()

    return probe.remember(("patterns that differ", maps_only), count)


@proxy("swap_reg", needs=_NEEDS, paper=_PAPER, cost="1 forward run", variants=_VARIANTS, initialise="normal")
def swap_reg(probe: Probe, *, mu: float = 50.0, sigma: float = 2000.0, maps_only: bool = False) -> Tensor:
    r"""SWAP times a factor that favours networks of a given size; no labels.

    $$
    \mathrm{swap} \cdot \exp \left( -\frac{(p - \mu)^2}{\sigma} \right)
    $$

    Formula: swap times exp(-(p - mu)^2 / sigma), p the parameters in thousands (those of auxiliary heads left out). sigma
    is not squared: networks further than sqrt(sigma) thousand parameters from mu fade quickly.

    Settings: `mu` and `sigma` have to fit the sizes of the networks that are compared (the paper chooses them by space);
    a factor that is 0 in floating numbers has the status `nan`. `maps_only` as for `swap`, variant `reference` and the
    weights too.

    Needs a batch; labels are never read. BatchNorm: batch statistics.

    >>> from foresee import score
    >>> net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
    >>> score(net, torch.randn(3, 3, 8, 8), "swap_reg").ok
    True
    """
    if not sigma > 0:
        raise InputError(f"sigma {sigma}: a positive number is needed")
    count = sum(p.numel() for name, p in probe.network.named_parameters() if "auxiliary" not in name)
    factor = math.exp(-((count / 1e3 - mu) ** 2) / sigma)
    if factor == 0:
        raise FloatingPointError(
            f"the network has {count} parameters, so far from mu = {mu:g} thousand that the factor is 0: set mu and sigma"
        )
    return swap(probe, maps_only=maps_only) * factor


@proxy(
    "linear_regions",
    needs=Needs(batch=64, looks=("batch.patterns",)),
    paper="Chen et al., Neural Architecture Search on ImageNet in Four GPU Hours: A Theoretically Inspired Perspective, "
    "ICLR 2021",
    cost="1 forward run",
    variants=_VARIANTS,
)
def linear_regions(probe: Probe, *, maps_only: bool = False) -> Tensor:
    r"""Number of linear regions of the network that the samples of a batch fall into; no labels.

    $$
    \left\vert \lbrace a(x_1), \ldots, a(x_B) \rbrace \right\vert, \quad
    a_u(x) = [ z_u(x) > 0 ]
    $$

    Formula: the number of distinct rows of the matrix (samples, units) that says where a unit is active, a unit being one
    number of the output of a ReLU-like activation (module or function). At most the number of samples,
    which wide networks reach at once: the paper looks at a very thin network with thousands of 3x3 inputs, drawn by `he`.

    Settings: `maps_only` counts only the units of plain ReLUs whose input is a batch of maps. Variant `reference`, the
    public code's rule, does.

    Needs a batch; labels are never read. BatchNorm: batch statistics. The count is exact.

    >>> from foresee import score
    >>> net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.ReLU())
    >>> score(net, torch.tensor([[-2.0], [-1.0], [3.0]]), "linear_regions").value
    2.0
    """
    patterns = _patterns(probe, maps_only)
    units = sum(pattern.positive[0].numel() for pattern in patterns)
    together = torch.stack([agreements(pattern.positive.flatten(1)) for pattern in patterns]).sum(0)
    return regions(together, units)


def pack(positive: Tensor) -> Tensor:
    """Signs of n units for B samples as whole numbers, (..., B, n) to (..., words, n): each word holds up to 62 samples."""
    words = []
    for part in torch.split(positive, _WORD, dim=-2):
        powers = 2 ** torch.arange(part.shape[-2], device=part.device)
        total = torch.zeros_like(part[..., 0, :], dtype=torch.int64)
        for row, power in zip(
            part.unbind(-2), powers, strict=True
        ):  # one row at a time: whole numbers take 8 bytes each
            total += row * power
        words.append(total)
    return torch.stack(words, dim=-2)


def distinct(words: Tensor) -> Tensor:
    """How many of n columns are different: whole numbers (..., words, n) to counts (...).

    >>> distinct(torch.tensor([[5, 5, 5, 7], [1, 2, 1, 1]]))
    tensor(3)
    """
    numbers, *others = (_numbered(word) for word in words.unbind(-2))
    for other in others:  # a pair of numbers below n is a number below n^2
        numbers = _numbered(numbers * words.shape[-1] + other)
    return numbers.amax(-1) + 1


def _numbered(values: Tensor) -> Tensor:
    """The values (..., n), numbered by size from 0 with equal numbers for equal values."""
    ordered, order = values.sort(dim=-1)
    steps = torch.zeros_like(ordered)
    steps[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    return torch.zeros_like(values).scatter_(-1, order, steps.cumsum(-1))


def regions(agreed: Tensor, units: int) -> Tensor:
    """Number of different patterns among B samples, from on how many of the units each two agree: (..., B, B) to (...).

    A pattern that c samples share is met c times, and counts 1/c each time.
    """
    same = (agreed == units).sum(-1)
    return (1.0 / same.double()).sum(-1).round()


def _patterns(probe: Probe, maps_only: bool) -> list[Pattern]:
    patterns = probe.batch.patterns
    if maps_only:
        patterns = [p for p in patterns if isinstance(p.module, nn.ReLU) and p.positive.ndim == 4]
    if not patterns:
        which = "ReLU modules with maps as their inputs" if maps_only else "ReLU-like activations"
        raise UnsupportedError(f"no {which} were called (those inside TorchScript cannot be seen)")
    for pattern in patterns:
        if len(pattern.positive) != len(probe.batch):
            raise UnsupportedError(f"the activations of {pattern.name} do not have the batch axis first")
    return patterns

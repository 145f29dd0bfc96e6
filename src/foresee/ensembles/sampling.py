"""Ensembles drawn from a posterior of architectures: Monte Carlo (Algorithm 5.2) and SVGD-RD (Algorithm 5.3)."""

from __future__ import annotations

import torch
from torch import Tensor

from foresee.checks import whole
from foresee.ensembles import svgd
from foresee.ensembles.posterior import Posterior
from foresee.ensembles.relaxation import Relaxation
from foresee.seeds import generator

#: how far apart particles begin: normal draws around the middle of the corners
SPREAD = 1.0


def sample_mc(posterior: Posterior, size: int, seed: int = 0) -> list[dict[str, Tensor]]:
    """`size` independent architectures by their probability, as paths.

    >>> sure = Posterior({"a": torch.tensor([30.0, 0.0])})
    >>> [path["a"].tolist() for path in sample_mc(sure, 2)]
    [[1.0, 0.0], [1.0, 0.0]]
    """
    whole("ensemble size", size)
    return [posterior.draw(seed, "mc", number) for number in range(size)]


def sample_svgd_rd(
    posterior: Posterior,
    size: int,
    *,
    delta: float = 0.0,
    seed: int = 0,
    steps: int = svgd.STEPS,
    lr: float = svgd.LR,
    momentum: float = svgd.MOMENTUM,
    bandwidth: float | None = None,
) -> list[dict[str, Tensor]]:
    """`size` architectures that are likely and differ, as paths: particles of the relaxed posterior, decoded.

    Args:
        posterior: what they are drawn from.
        size: of the ensemble.
        delta: how much they are to differ; the thesis looks from -2 to 1.
        seed: of where the particles begin.
        steps: see `svgd_rd`.
        lr: see `svgd_rd`.
        momentum: see `svgd_rd`.
        bandwidth: see `svgd_rd`.
    """
    whole("ensemble size", size)
    relaxed = Relaxation(posterior)
    start = SPREAD * torch.randn(size, relaxed.dimensions, generator=generator(seed, "particles"), dtype=torch.float64)
    ends = svgd.svgd_rd(relaxed.slope, start, delta=delta, steps=steps, lr=lr, momentum=momentum, bandwidth=bandwidth)
    return [relaxed.decode(point) for point in ends]

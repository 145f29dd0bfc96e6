"""NASWOT: how differently a network's activations respond to different samples."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from foresee.errors import UnsupportedError
from foresee.probes.patterns import Pattern
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, RankDeficientError, proxy


@proxy(
    "naswot",
    needs=Needs(batch=128, looks=("batch.patterns",)),
    paper="Mellor et al., Neural Architecture Search without Training, ICML 2021",
    cost="1 forward run",
    variants={"reference": {"by_name": True}},
)
def naswot(probe: Probe, *, by_name: bool = False) -> Tensor:
    r"""Log-determinant of the kernel that counts the activations on which two samples agree; no labels.

    $$
    \log \left\vert \det K \right\vert, \quad K_{ij} = \sum_u [ a_u(x_i) = a_u(x_j) ], \quad a_u(x) = [ z_u(x) > 0 ]
    $$

    Formula: log |det K|, K_ij = number of units (of all ReLU-like activations) whose input is positive for both samples i
    and j or for neither. Activations are ReLU, LeakyReLU, PReLU, GELU, SiLU, ELU and their kind, as modules or as functions.

    Settings: `by_name` selects every module whose type is called something with "ReLU" instead. Variant `reference` does:
    so the public code counts NAS-Bench-201's `ReLUConvBN` besides the ReLU inside.

    Needs a batch; labels are never read. Two samples with equal patterns make K singular (status `rank_deficient`).
    BatchNorm: batch statistics. K in float64; the counts are exact.

    >>> from foresee import score
    >>> net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU())
    >>> score(net, torch.randn(4, 3, 8, 8), "naswot").ok
    True
    """
    patterns: list[Pattern] | Agreed = probe.batch.see("patterns_by_name" if by_name else "patterns")
    if not patterns:
        raise UnsupportedError("no ReLU-like activations were called (those inside TorchScript cannot be seen)")
    K = patterns.agreements() if isinstance(patterns, Agreed) else _agreed(probe, patterns)
    determinant = torch.linalg.slogdet(K)
    if float(determinant.sign) == 0:
        raise RankDeficientError("K is singular: two samples have the same activation patterns")
    logarithm: Tensor = determinant.logabsdet
    return logarithm


class Agreed(ABC):
    """Patterns of a network that was looked at among many: counted already."""

    @abstractmethod
    def agreements(self) -> Tensor:
        """On how many activations each two samples agree, (samples, samples)."""


def _agreed(probe: Probe, patterns: list[Pattern]) -> Tensor:
    samples = len(probe.batch)
    K = torch.zeros(samples, samples, dtype=torch.float64, device=probe.device)
    for pattern in patterns:
        if len(pattern.positive) != samples:
            raise UnsupportedError(f"the activations of {pattern.name} do not have the batch axis first")
        K += agreements(pattern.positive.flatten(1))
    return K


def agreements(positive: Tensor) -> Tensor:
    """On how many of n units each two of B samples agree: booleans (..., B, n) to counts (..., B, B), in float64.

    >>> agreements(torch.tensor([[True, True, False], [True, False, False]]))
    tensor([[3., 2.],
            [2., 3.]], dtype=torch.float64)
    """
    n = positive.shape[-1]
    # Units that are positive for both, and those that are for neither: float32 holds whole numbers below 2^24 exactly.
    ones = positive.to(torch.float32 if n < 2**24 else torch.float64)
    both, each = (ones @ ones.mT).double(), ones.sum(-1).double()
    return n - each[..., :, None] - each[..., None, :] + 2 * both

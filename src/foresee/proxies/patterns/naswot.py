"""NASWOT: how differently a network's activations respond to different samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor

from foresee.errors import UnsupportedError
from foresee.probes.patterns import Pattern
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, RankDeficientError, proxy

#: numbers of square matrices, (..., n, n) to some of (...)
Measure = Callable[[Tensor], tuple[Tensor, ...]]


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
    agreed = patterns if isinstance(patterns, Agreed) else _Counted(probe, patterns)
    determinant = agreed.measured(torch.linalg.slogdet)
    if float(determinant[0]) == 0:
        raise RankDeficientError("K is singular: two samples have the same activation patterns")
    return determinant[1]


class Agreed(ABC):
    """On how many activations each two samples agree, K: of a network, or of one that was looked at among many."""

    @abstractmethod
    def measured(self, formula: Measure) -> tuple[Tensor, ...]:
        """What `formula` gives for K, (samples, samples); it may be given those of many networks, (..., samples, samples)."""


class _Counted(Agreed):
    def __init__(self, probe: Probe, patterns: list[Pattern]) -> None:
        self._kernel = _agreed(probe, patterns)

    def measured(self, formula: Measure) -> tuple[Tensor, ...]:
        """Of the network's own."""
        return formula(self._kernel)


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
    return agreeing(together(positive.to(torch.float32 if n < 2**24 else torch.float64)).double(), n)


def together(ones: Tensor) -> Tensor:
    """How many of the units that are 1, and not 0, are so for each two samples: (..., B, n) to (..., B, B), in their type.

    float32 holds whole numbers below 2^24 exactly, float16 those up to 2^11.
    """
    return ones @ ones.mT


def agreeing(both: Tensor, n: Tensor | int) -> Tensor:
    """On how many of n units each two samples agree: on those that are positive for both, and for neither.

    >>> agreeing(torch.tensor([[2, 1], [1, 1]]), 3)
    tensor([[3, 2],
            [2, 3]])
    """
    each = both.diagonal(dim1=-2, dim2=-1)
    return n - each[..., :, None] - each[..., None, :] + 2 * both

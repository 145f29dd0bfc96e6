"""NASI: the trace norm of the neural tangent kernel from gradients of the loss, with its constraint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from foresee.errors import UnsupportedError
from foresee.probes.kernel import MEMORY, sample_norms
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy
from foresee.proxies.kernels.ntk import lengths_bytes

_PAPER = "Shu et al., NASI: Label- and Data-agnostic Neural Architecture Search at Initialization, ICLR 2022"


@proxy(
    "nasi",
    needs=Needs(labels=True, backward=True, batch=64, looks=("batch.gradients",)),
    paper=_PAPER,
    equation="Eq. 12, constraint Eq. 13",
    cost="1 forward + backward run",
)
def nasi(probe: Probe, *, m: float = 1.0, gamma: float = 1.0, mu: float = 1.0, nu: float | None = None) -> Tensor:
    r"""Squared norm of the gradient of the mean loss of one batch: the trace norm of the kernel, approximated.

    $$
    \frac{m}{\gamma^2} \left\Vert \frac{1}{b} \sum_x \nabla L_x \right\Vert_2^2
    $$

    Formula: m gamma^-2 s, s = ||(1/b) sum over the batch of grad L_x||_2^2 by all trainable parameters (Eq. 12). With `nu`
    given, s - mu max(0, s - nu) takes the place of s (Eq. 13).

    Settings: `m`, the size of the data set, and `gamma`, the Lipschitz constant of the loss, scale all networks alike and
    are 1 by default. The factor is gamma^-2, as Eq. 10 squared gives, where Eq. 11 and 12 print gamma^-1. `mu` and `nu` are
    the penalty and the limit: the paper uses mu = 2, nu = 100 on the DARTS space, mu = 1 on NAS-Bench-1Shot1.

    Needs labels; the paper shows that random ones serve as well. BatchNorm: batch statistics. Gradients in the network's own
    type, the sum in float64.

    >>> from foresee import score
    >>> batch = torch.randn(4, 2), torch.tensor([0, 1, 2, 0])
    >>> free = score(torch.nn.Linear(2, 3), batch, "nasi")
    >>> free.ok, score(torch.nn.Linear(2, 3), batch, "nasi", settings={"nu": 0.0, "mu": 1.0}).value
    (True, 0.0)
    """
    length = squared_length(gradient.flatten() for gradient in loss_gradients(probe).values())
    probe.note(squared_gradient_norm=length)
    return m / gamma**2 * (length if nu is None else constrained(length, mu, nu))


def _bytes(probe: Probe, settings: Mapping[str, Any]) -> float:
    return lengths_bytes(probe, {**settings, "outputs": "loss", "parameters": "all"})


@proxy(
    "nasi_sum",
    needs=Needs(labels=True, backward=True, batch=64, each="sample", held=_bytes),
    paper=_PAPER,
    equation="Eq. 11, first bound",
    cost="samples backward runs of the batch with BatchNorm, 1 without",
)
def nasi_sum(probe: Probe, *, gamma: float = 1.0, method: str = "exact", memory: float = MEMORY) -> Tensor:
    r"""Sum over samples of the squared norm of the gradient of the sample's loss: a lower bound of the trace norm.

    $$
    \frac{1}{\gamma^2} \sum_x \Vert \nabla L_x \Vert_2^2
    $$

    Formula: gamma^-2 sum over x of ||grad L_x||_2^2 by all trainable parameters, L_x the loss of one sample (Eq. 11, first
    part). At least b times the value of `nasi` (Jensen), and at most the value of `ntk_trace` when gamma is the Lipschitz
    constant of the loss (cross-entropy: the square root of 2).

    Settings: `gamma`, 1 by default; the factor is gamma^-2, as Eq. 10 squared gives, where Eq. 11 prints gamma^-1. `method`
    and `memory` as in `ntk_cond`.

    Needs labels. BatchNorm: batch statistics; a sample's gradient goes through the statistics of the whole batch. Gradients
    in the network's own type, sums in float64.

    >>> from foresee import scores
    >>> found = scores(torch.nn.Linear(2, 3), (torch.randn(4, 2), torch.tensor([0, 1, 2, 0])), ["nasi", "nasi_sum"])
    >>> found["nasi_sum"].value >= 4 * found["nasi"].value
    True
    """
    norms = sample_norms(probe, outputs="loss", parameters="all", method=method, memory=memory)
    return norms.sum((-1, -2)) / gamma**2


def constrained(value: Tensor, mu: Tensor | float, nu: Tensor | float) -> Tensor:
    """R = value - mu max(0, value - nu): NASI's objective (Eq. 13), of any approximation of the trace norm; broadcasts.

    >>> constrained(torch.tensor([1.0, 3.0]), mu=2.0, nu=2.0)
    tensor([1., 1.])
    """
    return value - mu * (value - nu).clamp_min(0)


def loss_gradients(probe: Probe) -> dict[str, Tensor]:
    """Gradients of the mean loss of the first batch by the trainable parameters; at least one."""
    found = probe.batch.gradients
    if not found:
        raise UnsupportedError("no trainable parameter has an influence on the loss")
    return found


def squared_length(parts: Iterable[Tensor]) -> Tensor:
    """Squared Euclidean norm of a vector in parts: (..., n) each to (...), float64."""
    return torch.stack([part.double().square().sum(-1) for part in parts]).sum(0)

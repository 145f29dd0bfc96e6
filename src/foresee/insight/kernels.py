"""The tangent kernel of a network: its spectrum, and the loss that it foretells against real gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from foresee.checks import whole
from foresee.errors import InputError
from foresee.insight.flat import Flat
from foresee.probes.kernel import condition_number, ntk, spectrum
from foresee.probes.probe import Probe


@dataclass(frozen=True)
class KernelSpectrum:
    """The eigenvalues of a kernel, smallest first, and what is made of them.

    `trace` is their sum, `m_trace` the root of it over the samples (Eq. 7.4), `condition` the largest over the
    smallest (None: the smallest is no more than rounding), `effective` how many of them there seem to be: (sum)^2 /
    sum of squares.
    """

    samples: int
    outputs: str
    parameters: str
    eigenvalues: tuple[float, ...]
    trace: float
    m_trace: float
    condition: float | None
    effective: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> KernelSpectrum:
        """What `to_json` gave."""
        return cls(**{**plain, "eigenvalues": tuple(plain["eigenvalues"])})


def kernel_spectrum(
    network: nn.Module,
    batch: Any,
    *,
    outputs: str = "label",
    parameters: str = "conv_linear",
    initialise: str = "default",
    seed: int = 0,
) -> KernelSpectrum:
    """The spectrum of the tangent kernel of a batch; the thesis' by default (`OUTPUTS` and `PARAMETERS` tell the others).

    >>> net, x = nn.Linear(2, 1, bias=False), torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    >>> found = kernel_spectrum(net, x, outputs="sum")
    >>> [round(one, 6) for one in found.eigenvalues], found.trace, round(found.condition, 6)
    ([1.0, 4.0], 5.0, 4.0)
    """
    with Probe(network, batch, seed=seed).initialised(initialise) as probe:
        kernel = ntk(probe, outputs=outputs, parameters=parameters)
        samples = len(probe.data[0])
    values = spectrum(kernel.matrix)
    condition, trace = float(condition_number(values, kernel.dtype)), float(kernel.matrix.trace())
    return KernelSpectrum(
        samples,
        outputs,
        parameters,
        tuple(values.tolist()),
        trace,
        (trace / samples) ** 0.5,
        condition if condition < float("inf") else None,
        float(values.sum() ** 2 / values.square().sum()),
    )


# -- what the kernel foretells ----------------------------------------------------------------------------------------
def predicted_losses(kernel: Tensor, residual: Tensor, rate: float, steps: int, samples: int) -> Tensor:
    """The loss of gradient descent while the kernel stays as it is (NASI, Eq. 4), before each step and after the last.

        L_t = (1/m) sum over i of (1 - eta lambda_i)^(2t) (u_i . (f_0 - y))^2

    Shapes: kernel (k, k), residual f_0 - y (k,), k = samples times outputs, to (steps + 1,). The paper writes y for
    the residual: its networks start at 0. `rate` eta is that of half the sum of squared errors; of the thesis' mean
    it is m times smaller.

    >>> predicted_losses(torch.tensor([[2.0]]), torch.tensor([3.0]), rate=0.25, steps=2, samples=1)
    tensor([9.0000, 2.2500, 0.5625], dtype=torch.float64)
    """
    values, vectors = torch.linalg.eigh(kernel.double())
    shares = (vectors.mT @ residual.double()).square()
    powers = 2 * torch.arange(steps + 1, dtype=torch.float64)
    losses: Tensor = ((1 - rate * values).abs() ** powers[:, None] * shares).sum(1) / samples
    return losses


@dataclass(frozen=True)
class LossCurve:
    """Losses before each step and after the last: of gradient descent itself, and as the first kernel foretells them.

    `deviation` is the largest difference over the first loss; `moved` how far the outputs came from those of the linearised
    network, at most over all steps; `drift` how far the kernel is from the first one in the end, relative, Frobenius.
    """

    rate: float
    measured: tuple[float, ...]
    predicted: tuple[float, ...]
    deviation: float
    moved: float
    drift: float
    parameters: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> LossCurve:
        """What `to_json` gave."""
        return cls(**{**plain, "measured": tuple(plain["measured"]), "predicted": tuple(plain["predicted"])})


def loss_curve(
    network: nn.Module, batch: Any, *, rate: float | None = None, steps: int = 50, seed: int = 0
) -> LossCurve:
    """Gradient descent on a copy of the network, on half the sum of squared errors of a batch, beside what its kernel says.

    `rate` None: 1 over the largest eigenvalue, the most that NASI's Proposition 1 allows. Labels that are classes
    become ones and zeros. For small networks (see `Flat`).

    >>> net = nn.Linear(2, 1, bias=False)  # linear in its weights: the kernel says all
    >>> found = loss_curve(net, (torch.eye(2), torch.tensor([1.0, 0.0])), steps=3)
    >>> found.deviation < 1e-12, found.drift < 1e-12
    (True, True)
    """
    whole("steps", steps)
    flat = Flat(network, batch, seed=seed)
    jacobian = flat.jacobian()
    kernel = jacobian @ jacobian.mT
    largest = float(spectrum(kernel)[-1])
    if not largest > 0:
        raise InputError("the outputs do not depend on the parameters: the kernel is zero, and nothing is learnt")
    eta = 1 / largest if rate is None else rate
    if not eta > 0:
        raise InputError(f"rate {eta:g}: expected a positive number")
    goal = flat.targets
    residual = (flat.outputs(flat.weights) - goal).detach()
    predicted = predicted_losses(kernel, residual.flatten(), eta, steps, len(flat))
    measured, moved, straight, weights = [], 0.0, residual.flatten(), flat.weights
    for point, outputs in flat.descent(eta, steps):
        weights, off = point, outputs - goal
        measured.append(float(off.square().sum()) / len(flat))
        moved = max(moved, float((off.flatten() - straight).norm()))
        straight = straight - eta * kernel @ straight
    last = flat.kernel(weights)
    return LossCurve(
        eta,
        tuple(measured),
        tuple(predicted.tolist()),
        float((torch.tensor(measured, dtype=torch.float64) - predicted).abs().max() / predicted[0]),
        moved,
        float((last - kernel).norm() / kernel.norm()),
        flat.size,
    )

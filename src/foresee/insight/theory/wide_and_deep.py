"""Theorem 7.4 of the thesis: the kernel of a wide linear network is L n I, that of a deep one L n^L I in expectation."""

from __future__ import annotations

import torch
from torch import Tensor

from foresee.checks import whole
from foresee.errors import InputError
from foresee.insight.theory.statement import Condition, Statement, Step
from foresee.probes.kernel import condition_number, spectrum

#: standard errors within which a mean over draws counts as the expectation
ERRORS = 4.0


def wide_and_deep(width: int = 4, layers: int = 3, samples: int = 3, *, draws: int = 4000, seed: int = 0) -> Statement:
    """Both kernels of so many draws of weights, on samples that are orthonormal (X^T X = I).

    The theorem also asks for samples of mean zero. Both cannot be: X 1 = 0 gives X^T X 1 = 0, and I 1 is not 0. What
    its proof uses is X^T X = I. The entries of the deep kernel have long tails: its mean is compared within 4
    standard errors of this mean.

    >>> found = wide_and_deep(3, 2, 2, draws=2000)
    >>> found.holds, round(found.constants["wide: condition number"], 6), found.constants["deep: median condition number"] > 1
    (True, 1.0, True)
    """
    for name, value in (("width", width), ("layers", layers), ("samples", samples)):
        whole(name, value)
    whole("draws", draws, 2)
    if samples > width:
        raise InputError(f"{samples} samples of {width} numbers cannot be orthonormal: at most {width}")
    generator = torch.Generator().manual_seed(seed)
    x = torch.linalg.qr(torch.randn(width, samples, generator=generator, dtype=torch.float64)).Q
    weights = torch.randn(draws, layers, width, width, generator=generator, dtype=torch.float64)
    eye = torch.eye(samples, dtype=torch.float64)
    wide, deep = wide_kernel(x, layers), deep_kernel(weights, x)
    mean, error = deep.mean(0), deep.std(0) / draws**0.5
    off = (mean - layers * width**layers * eye).abs() / error
    conditions = condition_number(spectrum(deep))
    trace = mean.diagonal().sum()
    steps = (
        Step("wide: Theta = L n I, largest difference", float((wide - layers * width * eye).abs().max()), 1e-9 * width),
        Step("deep: E Theta' = L n^L I, largest difference in standard errors", float(off.max()), ERRORS),
        Step(
            "deep: mean of the diagonal", float(trace) / samples, float(layers * width**layers), "=",
            tolerance=float(ERRORS * error.diagonal().mean() / (layers * width**layers)),
        ),
        Step("deep: condition number of a draw is above 1", float(conditions.min()), 1.0, ">="),
    )  # fmt: skip
    constants = {
        "wide: condition number": float(condition_number(spectrum(wide))),
        "deep: median condition number": float(conditions.median()),
        "deep: condition number of the mean kernel": float(condition_number(spectrum(mean))),
        "deep: M_Trace over wide: M_Trace": float((trace / wide.diagonal().sum()).sqrt()),
    }
    return Statement(
        "Thesis, Theorem 7.4",
        f"kernels of a wide and a deep linear network, n = {width}, L = {layers}, {samples} samples, {draws} draws",
        steps,
        (Condition("X^T X = I", bool(torch.allclose(x.mT @ x, eye))),),
        constants,
        ("samples of mean zero cannot have X^T X = I; the proof uses the latter alone",),
    )


def wide_kernel(x: Tensor, layers: int) -> Tensor:
    """L n X^T X for samples (n, samples), whatever the weights are (D.46): (samples, samples)."""
    return layers * len(x) * (x.mT @ x)


def deep_kernel(weights: Tensor, x: Tensor) -> Tensor:
    """Kernels of 1^T WL ... W1 x (D.47) for weights (..., L, n, n) and samples (n, samples): (..., samples, samples).

    >>> deep_kernel(torch.ones(2, 1, 1), torch.ones(1, 1))  # W2 W1 x with all of them 1: both derivatives are 1
    tensor([[2.]])
    """
    layers, n = weights.shape[-3], weights.shape[-1]
    below: list[Tensor] = [x.expand(*weights.shape[:-3], *x.shape)]
    for place in range(layers - 1):
        below.append(weights[..., place, :, :] @ below[-1])
    above = torch.ones(*weights.shape[:-3], 1, n, dtype=weights.dtype)
    total = torch.zeros(*weights.shape[:-3], x.shape[1], x.shape[1], dtype=weights.dtype)
    for place in reversed(range(layers)):  # d f / d W = above^T (below x)^T
        total = total + above.square().sum(-1)[..., None] * (below[place].mT @ below[place])
        above = above @ weights[..., place, :, :]
    return total

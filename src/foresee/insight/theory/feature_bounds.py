"""Dextr's Theorems 3 and 4: convergence and generalisation by the condition number of feature maps (Appendix A.1)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from foresee.checks import whole
from foresee.errors import InputError
from foresee.insight.flat import Flat
from foresee.insight.theory.papers_networks import TwoLayers
from foresee.insight.theory.statement import Condition, Statement, Step
from foresee.probes.kernel import spectrum

#: Euler steps for a unit of time over the largest eigenvalue: near enough to gradient flow
FINE = 50.0


def feature_bounds(
    inputs: Tensor,
    labels: Tensor,
    *,
    width: int = 1000,
    time: float = 5.0,
    test: tuple[Tensor, Tensor] | None = None,
    seed: int = 0,
) -> Statement:
    """The two-layer network that both theorems start from, trained by gradient flow, against their bounds.

    Args:
        inputs: the samples, (n, d): what the theorems then call the channels of a layer.
        labels: (n,).
        width: m, of the hidden layer.
        time: how long gradient flow goes on.
        test: inputs and labels held out, for Theorem 4.
        seed: of the weights.

    Theorem 1 (Du et al.) has exp(-lambda_min(H) t), H of infinite width. Theorem 3 divides by lambda_max, which only
    loosens it where lambda_max is at least 1, and then puts the condition number c of the feature maps X^phi in the
    place of that of H: for the layer's input X itself both are measured here. That "sigma(X)^2 = lambda(H)" (Section
    3.3.2) is a step: H is X X^T times the share of neurons that are active together, not X X^T. Theorem 4 hides
    constants; its exact steps are measured.

    >>> torch.manual_seed(0) and None
    >>> x = torch.nn.functional.normalize(torch.randn(5, 8), dim=1)
    >>> found = feature_bounds(x, torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0]), width=2000, time=2.0)
    >>> found.step("Theorem 1").holds, found.step("Section 3.3.2").holds
    (True, False)
    """
    whole("width", width)
    if inputs.ndim != 2 or labels.shape != inputs.shape[:1]:
        raise InputError(f"inputs {tuple(inputs.shape)} and labels {tuple(labels.shape)}: expected (n, d) and (n,)")
    x, y = inputs.double(), labels.double()
    flat = Flat(TwoLayers(x.shape[1], width, seed=seed), (x, y))
    limit = limit_gram(x)
    values = spectrum(limit)
    least, largest = float(values[0]), float(values[-1])
    if not least > len(x) * torch.finfo(x.dtype).eps * largest:
        raise InputError("two samples are parallel: the matrix of the limit is singular")
    singular = torch.linalg.svdvals(x)
    condition = float(singular[0] / singular[min(x.shape) - 1]) if len(x) <= x.shape[1] else math.inf
    rate = 1 / (FINE * float(spectrum(flat.kernel())[-1]))
    steps = max(1, math.ceil(time / rate))
    errors = [float((outputs.flatten() - y).square().sum()) for _, outputs in flat.descent(rate, steps)]
    share = errors[-1] / errors[0]
    now = steps * rate
    worst = max(error / errors[0] / math.exp(-least * step * rate) for step, error in enumerate(errors))
    found = [
        Step("Theorem 1: error over its bound, at its worst", worst, 1.0, tolerance=0.02),
        Step("Eq. 10: with lambda_min / lambda_max", share, math.exp(-least / largest * now)),
        Step("Lemma 1 for H: lambda_max >= 1", largest, 1.0, ">=",
             note="half the squared length of the samples, and more, the more alike they are"),
        Step("Section 3.3.2: lambda_max(H) = sigma_max(X)^2", largest, float(singular[0]) ** 2, "=", tolerance=1e-6,
             note="H has X X^T times the share of neurons that are active together, at most a half"),
        Step("Theorem 3: with the condition number of X", share, math.exp(-now / condition**2)),
        Step("Theorem 4: y^T H^-1 y <= y^T y / lambda_min", float(y @ torch.linalg.solve(limit, y)), float(y @ y) / least),
        Step("Theorem 4: 1 / lambda_min <= lambda_max / lambda_min", 1 / least, largest / least,
             note="needs lambda_max >= 1"),
    ]  # fmt: skip
    constants = {"lambda_min": least, "lambda_max": largest, "c(X)": condition, "time": now, "error left": share}
    if test is not None:
        weights = next(point for place, (point, _) in enumerate(flat.descent(rate, steps)) if place == steps)
        off = flat.outputs(weights, (test[0].double(),)).flatten() - test[1].double()
        constants["test loss"] = float(off.square().mean()) / 2
        constants["sqrt(2 y^T H^-1 y / N)"] = math.sqrt(2 * float(y @ torch.linalg.solve(limit, y)) / len(y))
        constants["c sqrt(y^T y / N)"] = condition * math.sqrt(float(y @ y) / len(y))
    return Statement(
        "Dextr, Theorems 3 and 4",
        f"a two-layer network of {width} neurons on {len(x)} samples, gradient flow for {now:.3g}",
        tuple(found),
        (Condition("the kernel stays near its limit", *_near(flat, limit)),),
        constants,
        ("Theorem 4 hides constants: its bound is a number here, not a step",) if test is not None else (),
    )


def limit_gram(x: Tensor) -> Tensor:
    """H of infinite width: x_i . x_j times the chance that both are on the positive side of a normal vector: (n, n).

    >>> limit_gram(torch.tensor([[1.0, 0.0], [0.0, 2.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 2.0000]], dtype=torch.float64)
    """
    x = x.double()
    unit = x / x.norm(dim=1, keepdim=True)
    apart, along = unit[:, None] - unit, unit[:, None] + unit
    angles = 2 * torch.atan2(apart.norm(dim=-1), along.norm(dim=-1))  # an arc cosine near 1 loses half of the digits
    gram: Tensor = x @ x.mT * (math.pi - angles) / (2 * math.pi)
    return gram


def _near(flat: Flat, limit: Tensor) -> tuple[bool, float]:
    """Whether the first kernel is within a quarter of its limit, and how far it is, in the operator norm."""
    off = float(torch.linalg.matrix_norm(flat.kernel() - limit, ord=2) / torch.linalg.matrix_norm(limit, ord=2))
    return off <= 0.25, off

"""NASI's Proposition 2: the trace norm hardly depends on the data (Appendix A.4); the thesis' Lemma D.9 leaves out L."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from foresee.checks import whole
from foresee.errors import InputError
from foresee.handed import as_batches
from foresee.insight.flat import Flat
from foresee.insight.theory.statement import Condition, Statement, Step


def data_agnostic(
    network: nn.Module, first: Any, second: Any, *, layers: int, lipschitz: float = 1.0, seed: int = 0
) -> Statement:
    """The trace norms on two data sets, per sample and output, and their difference against Z D / n0.

    Proposition 2 is about networks in Jacot's scaling without bias (`tangent_network`), in the limit of infinite
    width: at a finite width a difference of the order of 1 / sqrt(width) is left. `layers` is L and `lipschitz` gamma
    of the activation; D is L for gamma = 1. Z, the distance of the two distributions, is 2 for samples that differ in
    all rows.

    Lemma D.9 of the thesis has the same bound without D: for L of 3 or more that is too little, since a linear network has
    exactly L |x|^2 / n0 per sample (data of length 1 against zeros differ by L / n0, and Z = 2). It is a step of its own.

    >>> from foresee.insight.theory.papers_networks import tangent_network
    >>> net = tangent_network(4, width=400, layers=5, activation=nn.Identity)
    >>> ones = torch.nn.functional.normalize(torch.randn(6, 4), dim=1)
    >>> found = data_agnostic(net, ones, 0 * ones, layers=5)
    >>> [step.holds for step in found.steps]
    [True, True, True, False]
    """
    whole("layers", layers)
    if not lipschitz > 0:
        raise InputError(f"lipschitz {lipschitz:g}: expected a positive number")
    one, two = _rows(first, seed), _rows(second, seed)
    if one.shape[1] != two.shape[1]:
        raise InputError(f"samples of {one.shape[1]} and {two.shape[1]} numbers: one network cannot look at both")
    inputs = one.shape[1]
    traces = [_mean_trace(Flat(network, part, seed=seed)) for part in (first, second)]
    factor = float(layers) if lipschitz == 1 else (1 - lipschitz ** (2 * layers)) / (1 - lipschitz**2)
    z = distance(one, two)
    longest = max(float(part.norm(dim=1).max()) for part in (one, two))
    difference = abs(traces[0] - traces[1])
    most = [factor * float(part.square().sum(1).mean()) / inputs for part in (one, two)]
    # at a finite width the mean over samples scatters around its limit
    loose = 0.5
    return Statement(
        "NASI, Proposition 2",
        "trace norms of the kernel on two data sets, per sample and output",
        (
            Step("Eq. 35: first data set, D E|x|^2 / n0", traces[0], most[0], tolerance=loose),
            Step("Eq. 35: second data set, D E|x|^2 / n0", traces[1], most[1], tolerance=loose),
            Step("Proposition 2: difference <= Z D / n0", difference, z * factor / inputs),
            Step(
                "Thesis, Lemma D.9: difference <= Z / n0", difference, z / inputs,
                note="" if factor <= 1 else "without the factor D of Proposition 2",
            ),
        ),
        (Condition("|x| <= 1", longest <= 1 + 1e-6, longest),),
        {"first trace": traces[0], "second trace": traces[1], "Z": z, "D": factor, "n0": float(inputs)},
        ("Eq. 35 is compared within a half: it is of infinite width",),
    )  # fmt: skip


def distance(first: Tensor, second: Tensor) -> float:
    """The integral of |P - P'| of two empirical distributions: rows (samples, numbers) each; 2 where no row is shared.

    >>> distance(torch.tensor([[0.0], [1.0]]), torch.tensor([[1.0], [1.0]]))
    1.0
    """
    rows, places = torch.unique(torch.cat([first, second]), dim=0, return_inverse=True)
    shares = torch.zeros(len(rows), dtype=torch.float64)
    shares.index_add_(0, places[: len(first)], torch.full((len(first),), 1 / len(first), dtype=torch.float64))
    shares.index_add_(0, places[len(first) :], torch.full((len(second),), -1 / len(second), dtype=torch.float64))
    return float(shares.abs().sum())


def _rows(batch: Any, seed: int) -> Tensor:
    """The samples as rows."""
    parts = as_batches(batch, seed=seed)[0].parts
    return torch.cat([part.double().flatten(1) for part in parts], dim=1)


def _mean_trace(flat: Flat) -> float:
    rows = flat.jacobian()
    return float(rows.square().sum()) / len(rows)

"""Several proxies together: one number per architecture from a table of scores.

A table is (..., architectures, proxies), a tensor or anything numpy understands; results are (..., architectures) in
float64. `directions` says for each proxy which way is better ("higher" for all by default). An entry that is not finite is
a failure: ranks put it last (failures share the mean of the last places), sums and means of values give minus infinity.

>>> table = [[0.1, 300.0], [0.3, 200.0], [0.2, float("nan")]]
>>> mean_rank(table)
tensor([2.0000, 1.5000, 2.5000], dtype=torch.float64)
>>> log_rank(table).argmax()
tensor(1)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from foresee.errors import InputError, UnknownNameError
from foresee.proxies.base import Direction
from foresee.statistics import ranks_of
from foresee.statistics.directions import sign, signs

#: how a weighted sum brings its proxies to one scale
Scale = Literal["rank", "log", "none"]
SCALES: tuple[str, ...] = ("rank", "log", "none")


def merits(table: Any, directions: Sequence[Direction] | None = None) -> Tensor:
    """The table turned so that more is better; minus infinity where a score is not finite. (..., m, k) to (..., m, k)."""
    values = torch.as_tensor(table, dtype=torch.float64)
    if values.ndim < 2:
        raise InputError(f"a table of shape {tuple(values.shape)}: expected (architectures, proxies)")
    turned = values * values.new_tensor(signs(directions, values.shape[-1], "proxies"))
    return torch.where(values.isfinite(), turned, -math.inf)


def ranks(table: Any, directions: Sequence[Direction] | None = None) -> Tensor:
    """Rank of each architecture for each proxy: m for the best, 1 for the worst; ties share their mean.

    >>> ranks([[5.0], [7.0], [5.0], [float("nan")]]).squeeze(-1)
    tensor([2.5000, 4.0000, 2.5000, 1.0000], dtype=torch.float64)
    """
    columns = merits(table, directions).mT
    return torch.from_numpy(ranks_of(columns.detach().cpu().numpy())).to(columns.device).mT


def places(table: Any, directions: Sequence[Direction] | None = None) -> Tensor:
    """Place of each architecture for each proxy: 1 for the best; ties share their mean, failures the last places."""
    found = ranks(table, directions)
    return found.shape[-2] + 1 - found


def mean_rank(table: Any, directions: Sequence[Direction] | None = None) -> Tensor:
    """Mean place over the proxies: less is better."""
    return places(table, directions).mean(-1)


def log_rank(table: Any, directions: Sequence[Direction] | None = None) -> Tensor:
    """Sum over the proxies of log(rank / m), more is better: one bad rank costs more than a good one wins.

    Lee and Ham, AZ-NAS: Assembling Zero-Cost Proxies for Network Architecture Search, CVPR 2024. Ranks are among the m
    architectures of the table, so every value changes when an architecture is added.
    """
    found = ranks(table, directions)
    return (found / found.shape[-2]).log().sum(-1)


def weighted_sum(
    table: Any, weights: Sequence[float], directions: Sequence[Direction] | None = None, *, scale: Scale = "rank"
) -> Tensor:
    """Sum over the proxies of weight times scaled score, more is better.

    Scales: "rank" is rank / m, in (0, 1]; "log" is log(1 + |score|) with the sign of the score, for values that span
    magnitudes; "none" takes the scores as they are. With "log" and "none" a failure makes the sum minus infinity.

    >>> weighted_sum([[1.0, 9.0], [2.0, 8.0]], [2.0, 1.0])
    tensor([2.0000, 2.5000], dtype=torch.float64)
    """
    if scale not in SCALES:
        raise UnknownNameError("scale", str(scale), SCALES)
    turned = merits(table, directions)
    factors = torch.tensor(list(weights), dtype=torch.float64, device=turned.device)
    if len(factors) != turned.shape[-1] or not bool(factors.isfinite().all()):
        raise InputError(f"weights {list(weights)}: expected one number for each of {turned.shape[-1]} proxies")
    failed = ~turned.isfinite()
    if scale == "rank":
        scaled, failed = ranks(turned) / turned.shape[-2], torch.zeros_like(failed)
    else:
        scaled = turned.sign() * turned.abs().log1p() if scale == "log" else turned
    total = (torch.where(failed, 0.0, scaled) * factors).sum(-1)
    return torch.where(failed.any(-1), -math.inf, total)


def harmonic_mean(table: Any, directions: Sequence[Direction] | None = None) -> Tensor:
    """The harmonic mean k / (sum of 1/score) of k proxies whose scores are positive; more is better.

    So Dextr joins its two parts, up to the factor 2, and Table 4 of its paper ZiCo and Zen. A mean of numbers that are
    not all positive does not exist; such an architecture, and one with a failure, gets minus infinity. The scores must be
    on like scales, and higher must be better: it has no meaning for scores turned around.

    >>> harmonic_mean([[3.0, 6.0], [1.0, -1.0]])
    tensor([4., -inf], dtype=torch.float64)
    """
    if directions is not None and any(sign(way) < 0 for way in directions):
        raise InputError("a harmonic mean needs proxies whose higher values are better; take their reciprocals")
    values = merits(table, directions)
    exists = (values > 0).all(-1)
    mean = values.shape[-1] / values.reciprocal().sum(-1)
    return torch.where(exists, mean, -math.inf)

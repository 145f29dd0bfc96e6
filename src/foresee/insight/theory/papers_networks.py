"""The networks that statements are about: fully connected in Jacot's scaling, wide and deep linear ones, two ReLU layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn


class Scaled(nn.Module):
    """A linear layer without bias whose weights are standard normal: x W^T / sqrt(inputs) (Jacot et al., 2018)."""

    def __init__(self, inputs: int, outputs: int, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs, generator=generator, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        """(..., inputs) to (..., outputs)."""
        return x @ self.weight.mT / math.sqrt(self.weight.shape[1])


def tangent_network(
    inputs: int,
    *,
    width: int = 64,
    layers: int = 3,
    outputs: int = 1,
    activation: Callable[[], nn.Module] = nn.ReLU,
    seed: int = 0,
) -> nn.Sequential:
    """`layers` layers in Jacot's scaling, of `width`, an activation between each two: what NASI and the thesis speak of.

    >>> net = tangent_network(4, width=8, layers=2)
    >>> net(torch.zeros(3, 4, dtype=torch.float64)).shape
    torch.Size([3, 1])
    """
    generator = torch.Generator().manual_seed(seed)
    sizes = [inputs, *[width] * (layers - 1), outputs]
    made: list[nn.Module] = []
    for first, second in pairwise(sizes):
        made += [Scaled(first, second, generator), activation()]
    return nn.Sequential(*made[:-1])


class Wide(nn.Module):
    """1^T (W1 + ... + WL) x, each W of n x n standard normal numbers (Eq. 7.5, left)."""

    def __init__(self, weights: Tensor) -> None:
        super().__init__()
        self.weights = nn.Parameter(weights)

    def forward(self, x: Tensor) -> Tensor:
        """(samples, n) to (samples, 1)."""
        return (x @ self.weights.sum(0).mT).sum(1, keepdim=True)


class Deep(Wide):
    """1^T WL ... W1 x (Eq. 7.5, right)."""

    def forward(self, x: Tensor) -> Tensor:
        """(samples, n) to (samples, 1)."""
        for weight in self.weights:
            x = x @ weight.mT
        return x.sum(1, keepdim=True)


class TwoLayers(nn.Module):
    """(1 / sqrt(m)) sum over r of a_r relu(w_r . x), the signs a_r fixed (Du et al., 2019): Dextr's Theorem 1."""

    signs: Tensor

    def __init__(self, inputs: int, width: int, *, seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.weight = nn.Parameter(torch.randn(width, inputs, generator=generator, dtype=torch.float64))
        signs = torch.randint(2, (width,), generator=generator).double() * 2 - 1
        self.register_buffer("signs", signs)

    def forward(self, x: Tensor) -> Tensor:
        """(samples, inputs) to (samples, 1)."""
        return ((x @ self.weight.mT).relu() @ self.signs / math.sqrt(len(self.signs))).unsqueeze(1)

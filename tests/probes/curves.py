"""Curves through inputs, networks with drawn weights, and what it means that two Taylor expansions are the same."""

from __future__ import annotations

import torch
from torch import nn


def curve_of(shape, seed=0, dtype=torch.float64):
    return torch.randn(3, *shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def seeded(network, seed=0):
    torch.manual_seed(seed)
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.5)
    return network.double()


def assert_same(ours, theirs, tolerance=1e-9):
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.shape == other.shape
        assert mine.dtype == other.dtype
        assert not mine.requires_grad
        scale = other.abs().max().clamp(min=1e-3)  # what vanishes does so to rounding
        assert bool(((mine - other).abs().max() <= tolerance * scale).all()), (
            (mine - other).abs().max() / scale
        ).item()

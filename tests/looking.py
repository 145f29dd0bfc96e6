"""Reference networks and small ones, for all tests that look at networks."""

from __future__ import annotations

import pytest
import torch
from tests.golden.networks import NETWORKS
from tests.golden.values import DTYPES, Golden, load
from torch import nn


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(params=[(name, dtype) for name in NETWORKS for dtype in DTYPES], ids="-".join)
def golden(request) -> Golden:
    """Each golden network in each type, with its values (see tests/golden)."""
    name, dtype = request.param
    return load(name, getattr(torch, dtype))


def _small(norm: bool, channels: int) -> nn.Module:
    layers = [nn.Conv2d(2, channels, 3, padding=1), nn.BatchNorm2d(channels) if norm else nn.Identity(), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv2d(channels, 4, 3, stride=2), nn.GELU(), nn.Flatten(), nn.Linear(16, 5))


@pytest.fixture
def small():
    """Makes a small network for images of 2x6x6 with 5 outputs, from a seed."""

    def make(seed: int = 0, *, norm: bool = True, channels: int = 3, dtype: torch.dtype = torch.float64) -> nn.Module:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return _small(norm, channels).to(dtype)

    return make


@pytest.fixture
def batch():
    """Makes (inputs, labels) for the small network, from a seed."""

    def make(count: int = 6, seed: int = 0, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
        source = torch.Generator().manual_seed(seed)
        inputs = torch.randn(count, 2, 6, 6, generator=source, dtype=torch.float64).to(dtype)
        return inputs, torch.randint(5, (count,), generator=source)

    return make

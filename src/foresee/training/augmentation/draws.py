"""One draw for each sample, from a generator on the CPU."""

from __future__ import annotations

import torch
from torch import Generator, Tensor


def uniform(count: int, generator: Generator, low: float = 0.0, high: float = 1.0) -> Tensor:
    """`count` numbers between `low` and `high`, float32.

    >>> uniform(3, torch.Generator().manual_seed(0)).shape
    torch.Size([3])
    """
    return torch.rand(count, generator=generator) * (high - low) + low


def below(limit: int, count: int, generator: Generator) -> Tensor:
    """`count` whole numbers from 0 to `limit - 1`."""
    return torch.randint(limit, (count,), generator=generator)


def chance(probability: float | Tensor, count: int, generator: Generator) -> Tensor:
    """`count` answers that are true with this probability; one probability for all, or one for each."""
    return torch.rand(count, generator=generator) < probability


def signs(count: int, generator: Generator) -> Tensor:
    """`count` numbers that are 1 or -1, equally often."""
    return below(2, count, generator).float().mul_(2).sub_(1)


def beta(alpha: float, count: int, generator: Generator) -> Tensor:
    """`count` numbers between 0 and 1 of the distribution Beta(alpha, alpha), float64.

    Two numbers of the gamma distribution and the share of the first. Where alpha is so small that both are nothing (torch
    gives the smallest number instead of 0), the share is 0 or 1, and a coin decides.
    """
    first, second = (
        torch._standard_gamma(torch.full((count,), alpha, dtype=torch.float64), generator=generator) for _ in range(2)
    )
    coin = below(2, count, generator).double()
    total = first + second
    return torch.where(total > 1e-300, first / total, coin)

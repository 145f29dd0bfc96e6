"""The body that nearly all residents share, their batch, and the list they are entered in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from foresee.batch import Batch
from foresee.seeds import generator

OUTPUTS = 3

#: name -> what makes the network
ZOO: dict[str, Callable[[], nn.Module]] = {}

Maker = Callable[[], nn.Module]


def resident(name: str) -> Callable[[Any], Any]:
    """Enter a class, or a function that makes a network, under this name."""

    def enter(maker: Any) -> Any:
        ZOO[name] = maker
        return maker

    return enter


class Plain(nn.Module):
    """Images 3x6x6 to 3 classes, with nothing unusual; residents change one thing of it."""

    def __init__(self) -> None:
        super().__init__()
        layers = (nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 8, 2, stride=2), nn.ReLU())
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(8, OUTPUTS)

    def logits(self, x: Tensor) -> Tensor:
        """(B, 3, 6, 6) to (B, 3)."""
        found: Tensor = self.head(self.pool(self.features(x)).flatten(1))
        return found

    def forward(self, x: Tensor) -> Any:
        """The logits."""
        return self.logits(x)


def batch(count: int = 8, seed: int = 0) -> Batch:
    """Images and labels for every resident."""
    inputs = torch.randn(count, 3, 6, 6, generator=generator(seed, "zoo"))
    return Batch(inputs, torch.arange(count) % OUTPUTS)

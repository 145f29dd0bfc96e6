"""Networks that hand one map from part to part; most spaces of images build such networks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator

from torch import Tensor, nn


class Staged(nn.Module, ABC):
    """Parts that a map flows through, then `pool` and `classifier`; a subclass sets these, or has its own `forward`."""

    pool: nn.Module
    classifier: nn.Module

    @abstractmethod
    def flow(self, x: Tensor) -> Iterator[Tensor]:
        """The output of each part in turn, as soon as it is there."""

    def stages(self, x: Tensor) -> list[Tensor]:
        """Output of the stem (or of each part of it), then of all that follows: cells, reductions, pools, blocks."""
        return list(self.flow(x))

    def pre_gap(self, x: Tensor) -> Tensor:
        """The map before global pooling."""
        return deque(self.flow(x), maxlen=1).pop()  # only the last is kept

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) to logits (B, outputs)."""
        logits: Tensor = self.classifier(self.pool(self.pre_gap(x)))
        return logits


def through(parts: Iterable[nn.Module], x: Tensor) -> Iterator[Tensor]:
    """The flow where each part reads what the one before it gives."""
    for part in parts:
        x = part(x)
        yield x

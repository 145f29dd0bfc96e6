"""Layers that use the first channels of their weights: a narrower network is a corner of a wider one."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

#: sizes in use, each with its weight
Sizes = Sequence[tuple[int, Tensor]]


def mask(sizes: Sizes) -> Tensor:
    """The weighted sum of masks that keep the first features, as long as the greatest size.

    >>> mask([(1, torch.tensor(0.25)), (3, torch.tensor(0.75))])
    tensor([1.0000, 0.7500, 0.7500])
    """
    places = torch.arange(max(size for size, _ in sizes), device=sizes[0][1].device)
    masks = [weight * (places < size).to(weight.dtype) for size, weight in sizes]
    return torch.stack(masks).sum(0)


class SlicedConv2d(nn.Conv2d):
    """A convolution without bias, of any channels up to its own."""

    def forward(self, x: Tensor, outputs: int) -> Tensor:  # type: ignore[override]
        """(B, any, H, W) to (B, outputs, H', W')."""
        return F.conv2d(x, self.weight[:outputs, : x.shape[1]], None, self.stride, self.padding)


class SlicedBatchNorm2d(nn.BatchNorm2d):
    """Batch norm of any channels up to its own; running statistics of the others stay as they are."""

    def forward(self, x: Tensor) -> Tensor:
        """Shape kept."""
        n = x.shape[1]
        mean, variance = self.running_mean, self.running_var
        assert mean is not None
        assert variance is not None
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
        return F.batch_norm(
            x,
            mean[:n],
            variance[:n],
            self.weight[:n],
            self.bias[:n],
            self.training,
            self.momentum or 0.0,
            self.eps,
        )


class SlicedLinear(nn.Linear):
    """A linear layer that reads any number of features up to its own."""

    def forward(self, x: Tensor) -> Tensor:
        """(B, any) to (B, outputs)."""
        return F.linear(x, self.weight[:, : x.shape[1]], self.bias)

"""Partial channels (PC-DARTS): only the first of them pass through an operation, the others go by.

Xu et al., "PC-DARTS: Partial Channel Connections for Memory-Efficient Architecture Search", ICLR 2020.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


def make_bypass(stride: int) -> nn.Module:
    """What the other channels go through: nothing, or a pool where the operation has a stride."""
    return nn.MaxPool2d(2, 2, ceil_mode=True) if stride == 2 else nn.Identity()


def partially(op: Callable[[Tensor], Tensor], bypass: nn.Module, x: Tensor, partial: int) -> Tensor:
    """`op` on the first 1/`partial` of the channels beside `bypass` on the others; then the channels are shuffled."""
    kept = x.shape[1] // partial
    return shuffle(torch.cat([op(x[:, :kept]), bypass(x[:, kept:])], 1), partial)


def shuffle(x: Tensor, groups: int) -> Tensor:
    """Channel shuffle: (B, groups x n, H, W) read as (groups, n) and written as (n, groups)."""
    b, c, h, w = x.shape
    return x.view(b, groups, c // groups, h, w).transpose(1, 2).reshape(b, c, h, w)


class Partial(nn.Module):
    """An operation on the first 1/k of the channels; the others go by, pooled where it has a stride; then a shuffle."""

    def __init__(self, op: nn.Module, partial: int, stride: int) -> None:
        super().__init__()
        self.op, self.partial = op, partial
        self.bypass = make_bypass(stride)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to (B, C, ceil(H/stride), ceil(W/stride))."""
        return partially(self.op, self.bypass, x, self.partial)

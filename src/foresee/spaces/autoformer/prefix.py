"""The network of all weights: every layer at its greatest size, of which each call uses the first rows and columns.

How much is used is said by lists of (size, weight). One size of weight 1 is a slice, computed as such. Several sizes are a
mixture: the greatest of them is computed, and the weighted sum of 0/1 masks that keep the first features of each size is
multiplied on. Layer norms take their statistics over each size by itself, and are summed by weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from foresee.spaces.autoformer.network import Attention, Layer, Network
from foresee.spaces.sliced import Sizes, mask


class PrefixLinear(nn.Linear):
    """A linear layer of which the first rows and columns are used."""

    def forward(self, x: Tensor, outputs: int) -> Tensor:  # type: ignore[override]
        """(..., any width up to its own) to (..., outputs)."""
        bias = None if self.bias is None else self.bias[:outputs]
        return F.linear(x, self.weight[:outputs, : x.shape[-1]], bias)


class PrefixConv2d(nn.Conv2d):
    """A convolution of which the first outputs are used."""

    def forward(self, x: Tensor, outputs: int) -> Tensor:  # type: ignore[override]
        """(B, C, H, W) to `outputs` maps."""
        assert self.bias is not None
        out: Tensor = self._conv_forward(x, self.weight[:outputs], self.bias[:outputs])
        return out


class PrefixNorm(nn.LayerNorm):
    """Layer norms of several sizes, each over its own first features, summed by weight."""

    def forward(self, x: Tensor, sizes: Sizes) -> Tensor:  # type: ignore[override]
        """(..., greatest size) to the same shape."""
        total: Tensor | None = None
        for size, weight in sizes:
            normed = F.layer_norm(x[..., :size], (size,), self.weight[:size], self.bias[:size], self.eps)
            term = F.pad(weight * normed, (0, x.shape[-1] - size))
            total = term if total is None else total + term
        assert total is not None
        return total


class PrefixAttention(Attention):
    """Attention of which the first heads are used."""

    linear = PrefixLinear

    def forward(self, x: Tensor, index: Tensor, heads: Sizes) -> Tensor:  # type: ignore[override]
        """Tokens (B, L, any width) to the same shape."""
        kept = mask(heads).repeat_interleave(self.head_dim)
        gathered = self.attend(self.qkv(x, 3 * len(kept)), index)
        out: Tensor = self.projection(gathered * kept, x.shape[-1])
        return out


@dataclass(frozen=True)
class Use:
    """How much of a layer is used; `gate` is the weight of the depths that reach it."""

    embed: Sizes
    heads: Sizes
    hidden: Sizes
    gate: Tensor


class PrefixLayer(Layer):
    """A layer of which a corner is used."""

    attention_kind = PrefixAttention
    linear = PrefixLinear
    norm = PrefixNorm

    def halves(self, x: Tensor, index: Tensor, use: Use) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """Tokens after the attention and after the hidden layer."""
        scale, width = use.gate * mask(use.embed), x.shape[-1]
        middle = self.add(x, self.attention(self.norm1(x, use.embed), index, use.heads) * scale)
        kept = mask(use.hidden)
        hidden = self.activation(self.fc1(self.norm2(middle, use.embed), len(kept))) * kept
        return middle, self.add(middle, self.fc2(hidden, width) * scale)

    def forward(self, x: Tensor, index: Tensor, use: Use) -> Tensor:  # type: ignore[override]
        """Tokens (B, L, any width) to the same shape."""
        return self.halves(x, index, use)[1]


class PrefixNetwork(Network):
    """The network at its greatest size; parameters have the names of those of any smaller one."""

    layer = PrefixLayer
    convolution = PrefixConv2d
    last_norm = PrefixNorm
    classifier = PrefixLinear

    def start(self, x: Tensor, embed: Sizes) -> Tensor:
        """Images to tokens of the greatest size in use."""
        kept = mask(embed)
        width = len(kept)
        x = self.patches(x, width).flatten(2).transpose(1, 2)
        first = self.cls[..., :width].expand(len(x), -1, -1)
        return (torch.cat([first, x], 1) + self.positions[..., :width]) * kept

    def halves(self, x: Tensor, embed: Sizes, uses: Sequence[Use]) -> list[Tensor]:
        """Tokens at the start, then after each half of each layer in use."""
        maps = [self.start(x, embed)]
        for layer, use in zip(self.layers, uses, strict=False):  # layers beyond the depth are not computed
            assert isinstance(layer, PrefixLayer)
            maps += layer.halves(maps[-1], self.index, use)
        return maps

    def mixed(self, x: Tensor, embed: Sizes, uses: Sequence[Use]) -> Tensor:
        """(B, channels, H, W) to the patches' tokens after the last norm, (B, N, greatest size in use)."""
        x = self.start(x, embed)
        for layer, use in zip(self.layers, uses, strict=False):
            x = layer(x, self.index, use)
        out: Tensor = self.norm(x, embed)[:, 1:]
        return out

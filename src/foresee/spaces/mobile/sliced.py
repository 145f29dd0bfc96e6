"""Inverted bottlenecks of several sizes in one set of weights: the first channels, the middle of the kernel.

How much is used is said by lists of (size, weight). One size of weight 1 is a slice, computed as such; several are a mixture:
the greatest is computed, channels are multiplied by the weights of all sizes that have them, and kernels are summed, which is
the same as the sum of what they give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from foresee.spaces.bottlenecks import Shape
from foresee.spaces.sliced import Sizes, SlicedBatchNorm2d, SlicedConv2d, mask


@dataclass(frozen=True)
class Use:
    """How much of a layer is used.

    Args:
        hidden: channels between the convolutions, with weights; those of expansion 1 are in `plain`.
        plain: the weight of the expansion 1, which widens nothing; None where it is not used.
        kernels: sides, with weights.
        squeezed: channels of the gate's inner layer, with weights.
        gated: weights with and without a gate; None for what is not used.
        reached: the weight of all depths that have this layer; None for a stage's first layer.
    """

    hidden: Sizes
    plain: Tensor | None
    kernels: Sizes
    squeezed: Sizes
    gated: tuple[Tensor | None, Tensor | None]
    reached: Tensor | None


def centre(weight: Tensor, kernel: int) -> Tensor:
    """The middle of kernels: (C, 1, K, K) to (C, 1, kernel, kernel), a view.

    >>> centre(torch.arange(9.0).view(1, 1, 3, 3), 1).item()
    4.0
    """
    start = (weight.shape[-1] - kernel) // 2
    return weight[..., start : start + kernel, start : start + kernel]


class SlicedDepthwise(nn.Conv2d):
    """A depthwise convolution of any channels and any smaller kernel."""

    def forward(self, x: Tensor, kernels: Sizes) -> Tensor:  # type: ignore[override]
        """(B, any, H, W) to (B, any, ceil(H/stride), ceil(W/stride))."""
        channels, most = x.shape[1], max(kernel for kernel, _ in kernels)
        parts = [
            F.pad(centre(self.weight[:channels], kernel), ((most - kernel) // 2,) * 4) * weight
            for kernel, weight in kernels
        ]
        return F.conv2d(x, reduce(add, parts), None, self.stride, most // 2, groups=channels)


class SlicedSqueeze(nn.Module):
    """`bottlenecks.SqueezeExcite` of any channels; it gives the factors."""

    def __init__(self, channels: int, squeezed: int, gate: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.reduce = nn.Conv2d(channels, squeezed, 1)
        self.activation = nn.ReLU()
        self.expand = nn.Conv2d(squeezed, channels, 1)
        self.gate = gate()

    def forward(self, x: Tensor, squeezed: Sizes) -> Tensor:
        """(B, any, H, W) to (B, any, 1, 1)."""
        kept = mask(squeezed)
        inner = self.activation(_corner(self.reduce, self.pool(x), len(kept))) * kept[:, None, None]
        factors: Tensor = self.gate(_corner(self.expand, inner, x.shape[1]))
        return factors


def _corner(conv: nn.Conv2d, x: Tensor, outputs: int) -> Tensor:
    assert conv.bias is not None
    return F.conv2d(x, conv.weight[:outputs, : x.shape[1]], conv.bias[:outputs])


class SlicedBottleneck(nn.Module):
    """An inverted bottleneck at its greatest size, of which a part is used; names as in the stand-alone network.

    Args:
        shape: the greatest sizes; `squeezed` is 0 where no option has a gate.
        activation: as in `InvertedBottleneck`.
        gate: likewise.
        use: says how much is used now; None where the layer is not reached.
    """

    def __init__(
        self,
        shape: Shape,
        activation: Callable[[], nn.Module],
        gate: Callable[[], nn.Module],
        use: Callable[[Tensor], Use | None],
    ) -> None:
        super().__init__()
        hidden, kernel = shape.hidden, shape.kernel
        self.adds, self.use = shape.keeps, use
        self.widen = nn.Sequential(
            SlicedConv2d(shape.inputs, hidden, 1, bias=False), SlicedBatchNorm2d(hidden), activation()
        )
        look = SlicedDepthwise(
            hidden, hidden, kernel, stride=shape.stride, padding=kernel // 2, groups=hidden, bias=False
        )
        self.look = nn.Sequential(look, SlicedBatchNorm2d(hidden), activation())
        self.squeeze: nn.Module = nn.Identity()
        if shape.squeezed:
            self.squeeze = SlicedSqueeze(hidden, shape.squeezed, gate)
        self.narrow = nn.Sequential(SlicedConv2d(hidden, shape.outputs, 1, bias=False), nn.BatchNorm2d(shape.outputs))

    def forward(self, x: Tensor, use: Use | None = None) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, ceil(H/stride), ceil(W/stride)); a layer that is not reached gives its input."""
        now = use or self.use(x)
        if now is None:
            return x
        sizes = [*now.hidden, *([(x.shape[1], now.plain)] if now.plain is not None else [])]
        look, norm, activation = self.look
        seen = activation(norm(look(self._widened(x, now, sizes), now.kernels))) * mask(sizes)[:, None, None]
        narrow, last = self.narrow
        out: Tensor = last(narrow(self._gated(seen, now), narrow.out_channels))
        if now.reached is not None:
            out = out * now.reached
        return x + out if self.adds else out

    def _widened(self, x: Tensor, use: Use, sizes: Sizes) -> Tensor:
        """The hidden channels; beside an expansion of 1 the widened ones count with their weight, as the input does."""
        if not use.hidden:
            return x
        conv, norm, activation = self.widen
        wide: Tensor = activation(norm(conv(x, max(size for size, _ in use.hidden))))
        if use.plain is None:
            return wide
        most = max(size for size, _ in sizes)
        together = reduce(add, [weight for _, weight in use.hidden])
        return filled(wide * together, most) + filled(x * use.plain, most)

    def _gated(self, x: Tensor, use: Use) -> Tensor:
        gated, plain = use.gated
        if gated is None:
            return x if plain is None else x * plain
        factors: Tensor = self.squeeze(x, use.squeezed) * gated
        return x * (factors if plain is None else factors + plain)


def filled(x: Tensor, channels: int) -> Tensor:
    """Zeros for the channels that are missing behind those there are."""
    return F.pad(x, (0, 0, 0, 0, 0, channels - x.shape[1])) if x.shape[1] < channels else x


def part(tensor: Tensor, shape: Sequence[int]) -> Tensor:
    """What a stand-alone network of this shape has of a tensor: the first channels, the middle of a kernel; a view."""
    kept = tensor[tuple(map(slice, shape[:2]))]
    return centre(kept, shape[-1]) if len(shape) == 4 else kept


def on_device(weight: float, x: Tensor) -> Tensor:
    """A weight that nobody chooses."""
    return torch.full((), weight, dtype=x.dtype, device=x.device)

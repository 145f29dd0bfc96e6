"""Layers with an architecture axis. Maps are (architectures, channels, entries, height, width): entries are the samples of a
batch, or value, velocity and acceleration of one sample along a curve, which all linear layers treat like samples. Where a
sample is cut into pieces these are neighbours on that axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from foresee.probes.jets.tensor import Jet
from foresee.scoring.stacked.skeleton import GRID


class Samples:
    """Entries are the samples of a batch, which share the statistics of batch norm."""

    def norm(self, x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
        """Batch norm with the batch's own statistics for each architecture and channel; `weight` and `bias` are (A, C).

        Before training these are ones and zeros: nothing to compute, unless one wants gradients by them.
        """
        flat = x.reshape(1, x.shape[0] * x.shape[1], -1)
        scale, shift = (None if one is None else one.flatten() for one in (weight, bias))
        return F.batch_norm(flat, None, None, scale, shift, training=True).view(x.shape)

    def relu(self, x: Tensor) -> Tensor:
        """Where it is positive."""
        return F.relu(x)

    def greatest(self, x: Tensor, stride: int = 1) -> Tensor:
        """Greatest of the 3x3 neighbours that lie inside the map."""
        return _by_maps(x, lambda maps: F.max_pool2d(maps, 3, stride, padding=1))

    def through(self, function: Callable[..., Any], *maps: Tensor) -> Tensor:
        """What a function of torch makes of maps; it leaves their first three axes alone."""
        made: Tensor = function(*maps)
        return made

    def constant(self, x: Tensor) -> Tensor:
        """What a constant adds to each entry, (entries,)."""
        return x.new_ones(x.shape[2])


class Curve(Samples):
    """Entries are value, velocity and acceleration of one sample along a curve: the rules are those of `probes.jets`."""

    def norm(self, x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
        """Batch norm of the curve, as it is before training."""
        return _through(lambda jet: F.batch_norm(jet, None, None, training=True), x)

    def relu(self, x: Tensor) -> Tensor:
        """All three where the value is positive."""
        return _through(F.relu, x)

    def greatest(self, x: Tensor, stride: int = 1) -> Tensor:
        """All three of the position whose value is greatest."""
        pieces = _pieces(x)
        made: Tensor = F.max_pool2d(Jet(pieces.flatten(1, 2)), 3, stride, padding=1).stack  # type: ignore[attr-defined]
        return made.view(*pieces.shape[:4], *made.shape[3:]).movedim(0, 2).flatten(2, 3)

    def through(self, function: Callable[..., Any], *maps: Tensor) -> Tensor:
        """The same of the curve."""
        made: Tensor = function(*(Jet(_pieces(one).contiguous()) for one in maps)).stack
        return made.movedim(0, 2).flatten(2, 3)

    def constant(self, x: Tensor) -> Tensor:
        """A constant moves the value alone."""
        return x.new_tensor([1.0, 0.0, 0.0])


def _through(function: Any, x: Tensor) -> Tensor:
    # The pieces of one sample share the statistics of batch norm, as its positions do.
    pieces = _pieces(x)
    made: Tensor = function(Jet(pieces.reshape(3, 1, x.shape[0] * x.shape[1], -1))).stack
    return made.view(pieces.shape).movedim(0, 2).flatten(2, 3)


def _pieces(x: Tensor) -> Tensor:
    """The three entries of a curve, (3, A, C, pieces, H, W)."""
    return x.reshape(*x.shape[:2], 3, -1, *x.shape[3:]).movedim(2, 0)


def convolved(x: Tensor, weights: Tensor, kernel: int, stride: int = 1, dilation: int = 1) -> Tensor:
    """Each architecture's own convolution with "same" padding: (A or 1, C, E, H, W) by (A, filters, c kernel^2).

    The patches are one copy of a strided view, the rest is one batched product. Where a filter reads c of C channels it is
    one of a group's, and these and what is dilated are left to torch.
    """
    groups = x.shape[1] * kernel**2 // weights.shape[2]
    if groups > 1 or dilation > 1:
        return _in_groups(x, weights, kernel, stride, groups, dilation)
    if torch.is_grad_enabled() and (x.requires_grad or weights.requires_grad):
        made: Tensor = _Convolution.apply(x, weights, kernel, stride)  # type: ignore[no-untyped-call]
        return made
    return _convolved(x, weights, kernel, stride)


def _convolved(x: Tensor, weights: Tensor, kernel: int, stride: int) -> Tensor:
    patches, size = _patches(x, kernel, stride)
    return torch.matmul(weights, patches).view(len(weights), -1, x.shape[2], *size)


def _in_groups(x: Tensor, weights: Tensor, kernel: int, stride: int, groups: int, dilation: int) -> Tensor:
    """The groups of all architectures are those of one convolution: torch has kernels for many of few channels."""
    count, filters = len(weights), weights.shape[1]
    maps = x.expand(count, *x.shape[1:]).flatten(0, 1).transpose(0, 1)
    kernels = weights.reshape(count * filters, -1, kernel, kernel)
    around = dilation * (kernel // 2)
    out = F.conv2d(maps, kernels, None, stride, around, dilation, groups=count * groups)
    return out.transpose(0, 1).reshape(count, filters, x.shape[2], *out.shape[2:])


def _patches(x: Tensor, kernel: int, stride: int) -> tuple[Tensor, tuple[int, int]]:
    """What each filter reads: (A, C kernel^2, entries x positions), and the size of the map that comes of it."""
    if kernel == 1 and stride == 1:
        return x.flatten(2) if x.is_contiguous() else x.reshape(*x.shape[:2], -1), (x.shape[3], x.shape[4])
    around = kernel // 2
    views = F.pad(x, (around,) * 4).unfold(3, kernel, stride).unfold(4, kernel, stride)
    size = views.shape[3], views.shape[4]
    return views.permute(0, 1, 5, 6, 2, 3, 4).reshape(len(x), x.shape[1] * kernel**2, -1), size


class _Convolution(torch.autograd.Function):
    """The same, keeping its input alone for the way back: patches are nine times as many numbers, and quickly made again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weights: Tensor, kernel: int, stride: int) -> Tensor:
        ctx.save_for_backward(x, weights)
        ctx.kernel, ctx.stride = kernel, stride
        return _convolved(x, weights, kernel, stride)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        x, weights = ctx.saved_tensors
        kernel, stride = ctx.kernel, ctx.stride
        to_weights = to_x = None
        if ctx.needs_input_grad[1]:
            patches, _ = _patches(x, kernel, stride)
            to_weights = torch.matmul(gradient.reshape(*gradient.shape[:2], -1), patches.mT)
            del patches
        if ctx.needs_input_grad[0]:
            spread = gradient if stride == 1 else _spread(gradient, stride, x.shape[3:])
            turned = weights.view(len(weights), -1, x.shape[1], kernel * kernel).flip(3).transpose(1, 2)
            to_x = _convolved(spread, turned.reshape(len(weights), x.shape[1], -1), kernel, 1)
        return to_x, to_weights, None, None


def _spread(gradient: Tensor, stride: int, size: torch.Size) -> Tensor:
    """Gradients at the places they came from, zeros between them: a strided map of `size`."""
    out = gradient.new_zeros(*gradient.shape[:3], *size)
    out[..., ::stride, ::stride] = gradient
    return out


def pooled(x: Tensor, stride: int = 1) -> Tensor:
    """Average of the 3x3 neighbours that lie inside the map."""
    return _by_maps(x, lambda maps: F.avg_pool2d(maps, 3, stride, padding=1, count_include_pad=False))


def halved(x: Tensor) -> Tensor:
    """Average of 2x2 positions; at an odd border of what there is."""
    return _by_maps(x, lambda maps: F.avg_pool2d(maps, 2, stride=2, ceil_mode=True))


def shifted(x: Tensor) -> Tensor:
    """Without the first row and column; a side of odd length is continued by a zero first."""
    height, width = x.shape[3:]
    return F.pad(x, (0, width % 2, 0, height % 2))[..., 1:, 1:]


def filled(x: Tensor, channels: int) -> Tensor:
    """As wide as that: zeros are its further channels."""
    return F.pad(x, (0,) * 7 + (channels - x.shape[1],)) if x.shape[1] < channels else x


def tiled(x: Tensor) -> Tensor:
    """Each entry cut into nine, row by row, which are nine entries; what does not fill a tile is left out."""
    height, width = (side // GRID for side in x.shape[3:])
    whole = x[..., : GRID * height, : GRID * width]
    grid = whole.reshape(*x.shape[:3], GRID, height, GRID, width)
    return grid.transpose(4, 5).flatten(2, 4)


def joined(x: Tensor) -> Tensor:
    """The features of nine entries (A, C, 9E, 1, 1) as those of one, (A, 9C, E, 1, 1)."""
    return x.reshape(*x.shape[:2], -1, GRID**2, 1, 1).movedim(3, 1).flatten(1, 2)


def _by_maps(x: Tensor, pool: Any) -> Tensor:
    made: Tensor = pool(x.flatten(0, 1))
    return made.view(*x.shape[:2], *made.shape[1:])

"""The operations of DARTS cells, each as a module and as a formula.

Two forms: stand-alone (batch norms with scale and shift, bare pools) and `search` (batch norms without them, one after
each pool as well), which is how operations look inside one-shot networks.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from foresee.errors import UnknownNameError
from foresee.spaces import counting
from foresee.spaces.counting import Counts, Size
from foresee.spaces.darts.cells import OLDER_OPS, OPS


# -- modules ------------------------------------------------------------------------------------------------------------
class FactorizedReduce(nn.Module):
    """Halves the map without dropping any pixel row: ReLU, two 1x1 convolutions with stride 2, one of them shifted by one
    pixel, joined, batch norm. Maps of odd size are continued by zeros.
    """

    def __init__(self, inputs: int, outputs: int, *, affine: bool = True) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.even = nn.Conv2d(inputs, outputs // 2, 1, stride=2, bias=False) if outputs > 1 else None
        self.odd = nn.Conv2d(inputs, outputs - outputs // 2, 1, stride=2, bias=False)
        self.norm = nn.BatchNorm2d(outputs, affine=affine)

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, ceil(H/2), ceil(W/2))."""
        x = self.relu(x)
        height, width = x.shape[-2:]
        grown = F.pad(x, (0, width % 2, 0, height % 2)) if height % 2 or width % 2 else x
        shifted = grown[:, :, 1:, 1:]
        parts = [self.odd(shifted)] if self.even is None else [self.even(x), self.odd(shifted)]
        out: Tensor = self.norm(torch.cat(parts, 1))
        return out


def relu_conv1x1_bn(inputs: int, outputs: int, *, affine: bool = True) -> nn.Sequential:
    """How a cell reads an input of its own size."""
    conv = nn.Conv2d(inputs, outputs, 1, bias=False)
    return nn.Sequential(nn.ReLU(), conv, nn.BatchNorm2d(outputs, affine=affine))


def preprocess(inputs: int, outputs: int, *, halve: bool, affine: bool = True) -> nn.Module:
    """How a cell reads one of its inputs; `halve` where that is twice as large as the other one."""
    if halve:
        return FactorizedReduce(inputs, outputs, affine=affine)
    return relu_conv1x1_bn(inputs, outputs, affine=affine)


def _separable(channels: int, kernel: int, stride: int, dilation: int, affine: bool) -> list[nn.Module]:
    """ReLU, depthwise and pointwise convolution, batch norm."""
    padding = dilation * (kernel // 2)
    return [
        nn.ReLU(),
        nn.Conv2d(channels, channels, kernel, stride, padding, dilation, groups=channels, bias=False),
        nn.Conv2d(channels, channels, 1, bias=False),
        nn.BatchNorm2d(channels, affine=affine),
    ]


def make(op: str, channels: int, stride: int, *, search: bool = False) -> nn.Module:
    """The operation's module: (B, channels, H, W) to (B, channels, ceil(H/stride), ceil(W/stride))."""
    affine = not search
    match op.split("_"):
        case ["sep", "conv", kernel]:
            first = _separable(channels, int(kernel[0]), stride, 1, affine)
            return nn.Sequential(*first, *_separable(channels, int(kernel[0]), 1, 1, affine))
        case ["dil", "conv", kernel]:
            return nn.Sequential(*_separable(channels, int(kernel[0]), stride, 2, affine))
        case ["skip", "connect"]:
            return nn.Identity() if stride == 1 else FactorizedReduce(channels, channels, affine=affine)
        case ["max", "pool", "3x3"]:
            return _pool(nn.MaxPool2d(3, stride, 1), channels, search)
        case ["avg", "pool", "3x3"]:
            return _pool(nn.AvgPool2d(3, stride, 1, count_include_pad=False), channels, search)
        case ["conv", "7x1", "1x7"]:
            return nn.Sequential(
                nn.ReLU(),
                nn.Conv2d(channels, channels, (1, 7), (1, stride), (0, 3), bias=False),
                nn.Conv2d(channels, channels, (7, 1), (stride, 1), (3, 0), bias=False),
                nn.BatchNorm2d(channels, affine=affine),
            )
    raise UnknownNameError("operation", op, OPS + OLDER_OPS)


def _pool(pool: nn.Module, channels: int, search: bool) -> nn.Module:
    return nn.Sequential(pool, nn.BatchNorm2d(channels, affine=False)) if search else pool


# -- formulas (`size` is that of the input; the form is the stand-alone one) -----------------------------------------------
@lru_cache(maxsize=4096)
def count(op: str, channels: int, stride: int, size: Size, affine: bool = True) -> Counts:
    """What `make` costs."""
    out = counting.strided(size, stride)
    norm, pointwise = counting.norm(channels, affine=affine), counting.conv2d(channels, channels, 1, out)
    match op.split("_"):
        case ["sep" | "dil" as kind, "conv", kernel]:
            depthwise = counting.conv2d(channels, channels, int(kernel[0]), out, groups=channels)
            return counting.repeat(depthwise + pointwise + norm, 2 if kind == "sep" else 1)
        case ["skip", "connect"] if stride > 1:
            return count_preprocess(channels, channels, size, halve=True, affine=affine)
        case ["conv", "7x1", "1x7"]:
            weights = 7 * channels * channels
            return Counts(2 * weights, weights * (size[0] + out[0]) * out[1]) + norm
    return counting.NOTHING


@lru_cache(maxsize=4096)
def count_preprocess(inputs: int, outputs: int, size: Size, *, halve: bool, affine: bool = True) -> Counts:
    """What `preprocess` costs: halved or not, its 1x1 convolutions give `outputs` channels in all."""
    out = counting.strided(size) if halve else size
    return counting.conv2d(inputs, outputs, 1, out) + counting.norm(outputs, affine=affine)

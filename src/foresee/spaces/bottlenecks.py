"""Inverted bottlenecks, the block of mobile networks: widen by 1x1, look around channel by channel, narrow by 1x1.

`InvertedBottleneck` is the module, `count` its formula. Every operation is a module, so that hooks see it, and none works in
place.

>>> shape = Shape(inputs=16, outputs=24, hidden=96, kernel=3, stride=2)
>>> count(shape, (16, 16))
Counts(params=5136, macs=595968)
>>> sum(one.numel() for one in InvertedBottleneck(shape).parameters())
5136
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from foresee.spaces import counting
from foresee.spaces.counting import Counts, Size


@dataclass(frozen=True)
class Shape:
    """All sizes of a block.

    Args:
        inputs: channels that are read.
        outputs: channels that are given.
        hidden: channels between; where they are as many as are read, nothing widens.
        kernel: side of the depthwise kernel.
        stride: of the depthwise convolution.
        squeezed: channels of the gate's inner layer; 0 where there is no gate.
    """

    inputs: int
    outputs: int
    hidden: int
    kernel: int
    stride: int = 1
    squeezed: int = 0

    @property
    def keeps(self) -> bool:
        """Whether the shape is kept, and so the input added."""
        return self.inputs == self.outputs and self.stride == 1

    @property
    def widens(self) -> bool:
        """Whether a 1x1 convolution comes first."""
        return self.hidden != self.inputs


def conv_bn(inputs: int, outputs: int, kernel: int = 1, *, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    """A convolution with "same" padding and its batch norm; its formula is `count_conv_bn`."""
    conv = nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, groups=groups, bias=False)
    return [conv, nn.BatchNorm2d(outputs)]


class HardSigmoid(nn.Module):
    """The cheap form of the sigmoid, straight between -3 and 3; torch's own cannot be differentiated twice.

    >>> HardSigmoid()(Tensor([-4.0, 0.0, 1.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """

    def forward(self, x: Tensor) -> Tensor:
        """Any shape, kept."""
        return (x + 3.0).clamp(0.0, 6.0) / 6.0


class SqueezeExcite(nn.Module):
    """Multiplies each channel by a number between 0 and 1 that depends on the means of all channels (Hu et al. 2018).

    Args:
        channels: of the map.
        squeezed: channels of the inner layer.
        gate: makes the module between 0 and 1: a sigmoid, or its cheap form of MobileNetV3.
    """

    def __init__(self, channels: int, squeezed: int, gate: Callable[[], nn.Module] = nn.Sigmoid) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.reduce = nn.Conv2d(channels, squeezed, 1)
        self.activation = nn.ReLU()
        self.expand = nn.Conv2d(squeezed, channels, 1)
        self.gate = gate()

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to the same shape."""
        out: Tensor = x * self.gate(self.expand(self.activation(self.reduce(self.pool(x)))))
        return out


class InvertedBottleneck(nn.Module):
    """Widened, seen channel by channel, perhaps gated, narrowed; the input is added where the shape is kept.

    Args:
        shape: all sizes.
        activation: makes the module after the first two convolutions; after the last there is none.
        gate: as in `SqueezeExcite`.
    """

    def __init__(
        self,
        shape: Shape,
        activation: Callable[[], nn.Module] = nn.ReLU,
        gate: Callable[[], nn.Module] = nn.Sigmoid,
    ) -> None:
        super().__init__()
        hidden = shape.hidden
        self.adds = shape.keeps
        self.widen: nn.Module = nn.Identity()
        if shape.widens:
            self.widen = nn.Sequential(*conv_bn(shape.inputs, hidden), activation())
        look = conv_bn(hidden, hidden, shape.kernel, stride=shape.stride, groups=hidden)
        self.look = nn.Sequential(*look, activation())
        self.squeeze: nn.Module = nn.Identity()
        if shape.squeezed:
            self.squeeze = SqueezeExcite(hidden, shape.squeezed, gate)
        self.narrow = nn.Sequential(*conv_bn(hidden, shape.outputs))

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, ceil(H/stride), ceil(W/stride))."""
        out: Tensor = self.narrow(self.squeeze(self.look(self.widen(x))))
        return x + out if self.adds else out


# -- formulas -------------------------------------------------------------------------------------------------------------
def count_conv_bn(inputs: int, outputs: int, kernel: int, size: Size, *, groups: int = 1) -> Counts:
    """`conv_bn` on an output of `size`."""
    return counting.conv2d(inputs, outputs, kernel, size, groups=groups) + counting.norm(outputs)


def count(shape: Shape, size: Size) -> Counts:
    """`InvertedBottleneck` on an input of `size`."""
    out, hidden = counting.strided(size, shape.stride), shape.hidden
    total = count_conv_bn(hidden, hidden, shape.kernel, out, groups=hidden)
    total += count_conv_bn(hidden, shape.outputs, 1, out)
    if shape.widens:
        total += count_conv_bn(shape.inputs, hidden, 1, size)
    if shape.squeezed:
        total += counting.conv2d(hidden, shape.squeezed, 1, (1, 1), bias=True)
        total += counting.conv2d(shape.squeezed, hidden, 1, (1, 1), bias=True)
    return total

"""Blocks that several spaces share. Every operation is a module, so that hooks see it; none works in place.

The formula of each block has the same name in `foresee.spaces.counting`.
"""

from __future__ import annotations

from torch import Tensor, nn

from foresee.errors import InputError
from foresee.task import Task


class Zero(nn.Module):
    """Zeros of the input's shape. It stays in the graph: what lies before it gets a gradient, which is zero."""

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to zeros of the same shape."""
        return x * 0.0


def relu_conv_bn(inputs: int, outputs: int, kernel: int, *, stride: int = 1, affine: bool = True) -> nn.Sequential:
    """ReLU, convolution, batch norm, with "same" padding.

    `affine=False` is the form of search-time networks: the norm keeps neither scale, shift nor running statistics, and
    the convolution has a bias instead.
    """
    return nn.Sequential(
        nn.ReLU(),
        nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, bias=not affine),
        nn.BatchNorm2d(outputs, affine=affine, track_running_stats=affine),
    )


def avg_pool_3x3() -> nn.AvgPool2d:
    """Average of the 3x3 neighbours that lie inside the map."""
    return nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False)


def global_average() -> nn.Sequential:
    """(B, C, H, W) to the mean of each channel, (B, C)."""
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(1))


class Reduction(nn.Module):
    """Residual block that halves the map: two ReLU-conv3x3-BN beside a 2x2 average pool with a bare 1x1 convolution.

    A map of odd size n becomes (n + 1) / 2 on both paths: the last window of the pool averages what there is.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.main = nn.Sequential(relu_conv_bn(inputs, outputs, 3, stride=2), relu_conv_bn(outputs, outputs, 3))
        self.shortcut = nn.Sequential(
            nn.AvgPool2d(2, stride=2, ceil_mode=True), nn.Conv2d(inputs, outputs, 1, bias=False)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, ceil(H/2), ceil(W/2))."""
        out: Tensor = self.shortcut(x) + self.main(x)
        return out


def image_shape(task: Task, space: str) -> tuple[int, int, int]:
    """Channels, height and width of an image task; a precise error for any other."""
    if len(task.inputs) != 3:
        shape = "x".join(map(str, task.inputs))
        raise InputError(f"space {space} takes images: input shape {shape}, expected channels x height x width")
    channels, height, width = task.inputs
    return channels, height, width

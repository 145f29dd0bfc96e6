"""Blocks that several spaces share, as parts; their names are those in `foresee.spaces.blocks`."""

from __future__ import annotations

from foresee.scoring.stacked.skeleton import Conv, Norm, Part, Step, Sum


def relu_conv_bn(name: str, inputs: int, outputs: int, kernel: int, stride: int = 1) -> tuple[Step, Conv, Norm]:
    """ReLU, convolution, batch norm.

    >>> [part.name for part in relu_conv_bn("edge", 4, 4, 3)]
    ['RELU', 'edge.1', 'edge.2']
    """
    return Step.RELU, Conv(f"{name}.1", inputs, outputs, kernel, stride), Norm(f"{name}.2")


def reduction(name: str, inputs: int, outputs: int) -> Part:
    """The residual block that halves the map."""
    first = relu_conv_bn(f"{name}.main.0", inputs, outputs, 3, stride=2)
    second = relu_conv_bn(f"{name}.main.1", outputs, outputs, 3)
    return Sum((*first, *second), (Step.HALVE, Conv(f"{name}.shortcut.1", inputs, outputs, 1)))

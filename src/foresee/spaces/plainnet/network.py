"""PlainNet networks: units of convolutions with batch norm, bridged or not, then global average and linear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from torch import Tensor, nn

from foresee.spaces.blocks import global_average, image_shape
from foresee.spaces.plainnet.architecture import Architecture, Conv, Unit, units
from foresee.spaces.staged import Staged, through
from foresee.task import Task

#: width of the squeezed vector, as a part of the channels
SQUEEZE = 0.25
EPSILON = 1e-3


@dataclass(frozen=True)
class Form:
    """What all networks of a space have in common.

    Args:
        residual: whether units are bridged; without, the bridges' convolutions are gone too.
        squeeze_excite: whether channels are re-weighted after each depthwise convolution.
    """

    residual: bool = True
    squeeze_excite: bool = False


def squeezed(channels: int) -> int:
    """Width of the squeezed vector."""
    return max(1, round(channels * SQUEEZE))


def adapted(architecture: Architecture, channels: int) -> Architecture:
    """The architecture with a first block that reads images of so many channels, whatever its text says."""
    first, *others = architecture.blocks
    return architecture if first.inputs == channels else Architecture((replace(first, inputs=channels), *others))


def conv_bn(conv: Conv, *, bias: bool = False) -> list[nn.Module]:
    """A convolution with "same" padding, and its batch norm."""
    inputs, outputs, kernel, stride, groups = conv
    return [
        nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, groups=groups, bias=bias),
        nn.BatchNorm2d(outputs, eps=EPSILON),
    ]


class SqueezeExcite(nn.Module):
    """Multiplies each channel by a number between 0 and 1 that depends on the means of all channels."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        narrow = squeezed(channels)
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            *conv_bn(Conv(channels, narrow, 1)),
            nn.ReLU(),
            *conv_bn(Conv(narrow, channels, 1)),
            nn.Sigmoid(),
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to the same shape."""
        out: Tensor = x * self.gate(x)
        return out


class UnitModule(nn.Module):
    """Convolutions with ReLUs between them; the bridge; a last ReLU."""

    def __init__(self, unit: Unit, form: Form) -> None:
        super().__init__()
        parts: list[nn.Module] = []
        for conv in unit.convs:
            parts += [*conv_bn(conv), nn.ReLU()]
            if form.squeeze_excite and conv.groups > 1:
                parts.append(SqueezeExcite(conv.outputs))
        self.main = nn.Sequential(*parts[:-1])  # the last ReLU comes after the sum
        self.bridge: nn.Module | None = None
        if unit.residual and form.residual:
            # the public networks leave this convolution its bias, though a norm follows
            self.bridge = nn.Sequential(*conv_bn(unit.projection, bias=True)) if unit.projected else nn.Identity()
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, ceil(H/stride), ceil(W/stride))."""
        out = self.main(x) if self.bridge is None else self.main(x) + self.bridge(x)
        activated: Tensor = self.relu(out)
        return activated


class Network(Staged):
    """The whole network; `blocks` are the super-blocks in order."""

    def __init__(self, architecture: Architecture, task: Task, form: Form) -> None:
        super().__init__()
        architecture = adapted(architecture, image_shape(task, "of blocks")[0])
        self.blocks = nn.ModuleList(
            nn.Sequential(*(UnitModule(unit, form) for unit in units(block))) for block in architecture.blocks
        )
        self.pool = global_average()
        self.classifier = nn.Linear(architecture.blocks[-1].outputs, task.outputs)

    def flow(self, x: Tensor) -> Iterator[Tensor]:
        """Outputs of the super-blocks; the stem is the first."""
        return through(self.blocks, x)

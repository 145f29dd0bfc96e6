"""Mobile networks: a stem, perhaps a separable layer, stages of inverted bottlenecks, a wide convolution, a classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torch import Tensor, nn

from foresee.spaces.blocks import global_average, image_shape
from foresee.spaces.bottlenecks import HardSigmoid, InvertedBottleneck, Shape, conv_bn
from foresee.spaces.mobile.architecture import Architecture, Layer
from foresee.spaces.mobile.designs import Design
from foresee.spaces.staged import Staged, through
from foresee.task import Task

MAKERS: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "relu6": nn.ReLU6,
    "hard_swish": nn.Hardswish,
    "swish": nn.SiLU,
}
#: widths between the convolutions of a layer are multiples of it
_MULTIPLE = 8


def rounded(width: float) -> int:
    """The nearest multiple of eight, at least eight, and not below nine tenths of the width.

    >>> rounded(88.08), rounded(67.5), rounded(3), rounded(11)
    (88, 64, 8, 16)
    """
    near = max(_MULTIPLE, int(width + _MULTIPLE / 2) // _MULTIPLE * _MULTIPLE)
    return near if near >= 0.9 * width else near + _MULTIPLE


@dataclass(frozen=True)
class Place:
    """Where a layer stands: its stage and number, the channels it reads and gives, its stride."""

    stage: int
    number: int
    inputs: int
    outputs: int
    stride: int

    def hidden(self, expansion: float) -> int:
        """Channels between the convolutions; as many as are read for the expansion 1."""
        return self.inputs if expansion == 1 else rounded(self.inputs * expansion)

    def squeezed(self, hidden: int, design: Design) -> int:
        """Channels of a gate's inner layer."""
        return rounded(hidden // 4) if design.squeeze_of == "hidden" else max(1, round(self.inputs / 4))

    def shape(self, layer: Layer, design: Design) -> Shape:
        """All sizes of a layer here."""
        hidden = self.hidden(layer.expansion)
        gate = self.squeezed(hidden, design) if layer.squeeze else 0
        return Shape(self.inputs, self.outputs, hidden, layer.kernel, self.stride, gate)


def places(design: Design, depths: tuple[int, ...]) -> Iterator[Place]:
    """Every layer of stages of so many layers."""
    inputs = design.first or design.stem
    for stage, (outputs, stride, depth) in enumerate(zip(design.widths, design.strides, depths, strict=True)):
        for number in range(depth):
            yield Place(stage, number, inputs, outputs, 1 if number else stride)
            inputs = outputs


def first_shape(design: Design) -> Shape:
    """The separable layer behind the stem."""
    return Shape(design.stem, design.first, design.stem, 3)


def activation(design: Design, stage: int) -> Callable[[], nn.Module]:
    """What makes the activations of a stage."""
    return nn.ReLU if stage < design.relu_stages else MAKERS[design.activation]


def gate(design: Design) -> Callable[[], nn.Module]:
    """What makes the gates."""
    return HardSigmoid if design.hard_gate else nn.Sigmoid


class Network(Staged):
    """The whole network.

    Args:
        task: images.
        design: all sizes but those of the layers.
        depths: layers of each stage.
        make: gives a layer for its place.
    """

    def __init__(self, task: Task, design: Design, depths: tuple[int, ...], make: Callable[[Place], nn.Module]) -> None:
        super().__init__()
        inputs, act = image_shape(task, "mobile")[0], MAKERS[design.activation]
        self.stem = nn.Sequential(*conv_bn(inputs, design.stem, 3, stride=design.stem_stride), act())
        self.first: nn.Module = nn.Identity()
        if design.first:
            self.first = InvertedBottleneck(first_shape(design), activation(design, 0))
        made: list[list[nn.Module]] = [[] for _ in depths]
        for place in places(design, depths):
            made[place.stage].append(make(place))
        self.blocks = nn.ModuleList(nn.Sequential(*layers) for layers in made)
        self.last = nn.Sequential(*conv_bn(design.widths[-1], design.head), act())
        self.pool = global_average()
        hidden = nn.Linear(design.head, design.features, bias=design.features_bias) if design.features else None
        last = nn.Linear(design.features or design.head, task.outputs)
        self.classifier = last if hidden is None else nn.Sequential(hidden, act(), last)

    @property
    def layers(self) -> list[nn.Module]:
        """The layers of all stages in order."""
        return [layer for stage in self.blocks for layer in stage.children()]

    def flow(self, x: Tensor) -> Iterator[Tensor]:
        """Outputs of the stem, of the separable layer, of each layer of the stages, and of the last convolution."""
        return through((self.stem, self.first, *self.layers, self.last), x)


def build(architecture: Architecture, task: Task, design: Design) -> Network:
    """The stand-alone network of one architecture."""

    def make(place: Place) -> nn.Module:
        shape = place.shape(architecture.stages[place.stage][place.number], design)
        return InvertedBottleneck(shape, activation(design, place.stage), gate(design))

    return Network(task, design, tuple(map(len, architecture.stages)), make)

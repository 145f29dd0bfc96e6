"""The networks of NAS-Bench-Macro: a stem, eight layers, a wide 1x1 convolution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torch import Tensor, nn

from foresee.spaces.blocks import global_average, image_shape
from foresee.spaces.bottlenecks import InvertedBottleneck, Shape, conv_bn
from foresee.spaces.nasbench_macro.architecture import BOTTLENECKS, FIRST, LAYERS, Architecture
from foresee.spaces.staged import Staged, through
from foresee.task import Task


@dataclass(frozen=True)
class Place:
    """Where a layer stands: the channels it reads and gives, and its stride."""

    inputs: int
    outputs: int
    stride: int

    def bottleneck(self, op: str) -> Shape:
        """The sizes of an inverted bottleneck here."""
        expansion, kernel = BOTTLENECKS[op]
        return Shape(self.inputs, self.outputs, expansion * self.inputs, kernel, self.stride)


def places(channels: int) -> list[Place]:
    """The eight layers behind a stem of so many channels."""
    found = []
    for layer in range(LAYERS):
        outputs = 2 * channels if layer in FIRST else channels
        found.append(Place(channels, outputs, 2 if layer in FIRST else 1))
        channels = outputs
    return found


def make_layer(op: str, place: Place) -> nn.Module:
    """One layer; the identity of a stage's first layer is a 1x1 convolution with batch norm."""
    if op != "identity":
        return InvertedBottleneck(place.bottleneck(op))
    if place.stride == 1:
        return nn.Identity()
    return nn.Sequential(*conv_bn(place.inputs, place.outputs, stride=place.stride))


class Network(Staged):
    """The whole network.

    Args:
        task: images.
        channels: width of the stem.
        head: width of the last convolution.
        make: gives a layer by its number and its place.
    """

    def __init__(self, task: Task, channels: int, head: int, make: Callable[[int, Place], nn.Module]) -> None:
        super().__init__()
        where = places(channels)
        inputs = image_shape(task, "nasbench_macro")[0]
        self.stem = nn.Sequential(*conv_bn(inputs, channels, 3), nn.ReLU())
        self.layers = nn.ModuleList(make(layer, place) for layer, place in enumerate(where))
        self.last = nn.Sequential(*conv_bn(where[-1].outputs, head), nn.ReLU())
        self.pool = global_average()
        self.classifier = nn.Linear(head, task.outputs)

    def flow(self, x: Tensor) -> Iterator[Tensor]:
        """Outputs of the stem, of each layer, and of the last convolution."""
        return through((self.stem, *self.layers, self.last), x)


def build(architecture: Architecture, task: Task, channels: int, head: int) -> Network:
    """The stand-alone network of one architecture."""
    return Network(task, channels, head, lambda layer, place: make_layer(architecture.ops[layer], place))

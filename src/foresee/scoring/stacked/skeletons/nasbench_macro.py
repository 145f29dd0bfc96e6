"""NAS-Bench-Macro: a stem, eight layers that are each nothing or an inverted bottleneck, a wide 1x1 convolution, classifier.

A layer is a cell of one edge: there is one way from what it reads to what it gives, and the choice is which.
"""

from __future__ import annotations

from foresee.scoring.stacked.skeleton import Cell, Chain, Conv, Edge, Linear, Norm, Part, Skeleton, Step, Sum
from foresee.spaces.bottlenecks import Shape
from foresee.spaces.nasbench_macro.architecture import BOTTLENECKS
from foresee.spaces.nasbench_macro.network import Place, places
from foresee.spaces.nasbench_macro.space import NASBenchMacro
from foresee.task import Task


def skeleton(space: NASBenchMacro, task: Task) -> Skeleton:
    """The benchmark's networks, of any width and with any head."""
    inputs, height, width = task.inputs
    where = places(space.channels)
    parts: list[Part] = [*_conv_bn("stem", inputs, space.channels, 3), Step.RELU]
    parts += [_layer(number, place) for number, place in enumerate(where)]
    parts += [*_conv_bn("last", where[-1].outputs, space.head), Step.RELU, Step.AVERAGE]
    parts.append(Linear("classifier", space.head, task.outputs))
    return Skeleton((inputs, height, width), tuple(parts))


def _layer(number: int, place: Place) -> Cell:
    name = f"layers.{number}"
    nothing: Chain = (Step.IDENTITY,)
    if place.stride > 1:
        nothing = _conv_bn(name, place.inputs, place.outputs, stride=place.stride)
    bottlenecks = ((op, _bottleneck(name, place.bottleneck(op))) for op in BOTTLENECKS)
    return Cell((Edge(0, 1, number, (("identity", nothing), *bottlenecks)),), place.outputs, place.stride)


def _bottleneck(name: str, shape: Shape) -> Chain:
    """Widened, seen channel by channel, narrowed; the input is added where the shape is kept."""
    main: Chain = (
        *(*_conv_bn(f"{name}.widen", shape.inputs, shape.hidden), Step.RELU),
        *(*_conv_bn(f"{name}.look", 1, shape.hidden, shape.kernel, shape.stride), Step.RELU),
        Step.IDENTITY,  # a module where other spaces have a gate
        *_conv_bn(f"{name}.narrow", shape.hidden, shape.outputs),
    )
    return (Sum(main, ()),) if shape.keeps else main


def _conv_bn(name: str, inputs: int, outputs: int, kernel: int = 1, stride: int = 1) -> Chain:
    return Conv(f"{name}.0", inputs, outputs, kernel, stride), Norm(f"{name}.1")

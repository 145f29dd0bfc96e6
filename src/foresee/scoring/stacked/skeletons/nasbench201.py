"""NAS-Bench-201: stem, three stages of equal cells with residual reductions between them, batch norm, classifier."""

from __future__ import annotations

from foresee.errors import UnsupportedError
from foresee.scoring.stacked.skeleton import Cell, Chain, Conv, Edge, Linear, Norm, Part, Skeleton, Step
from foresee.scoring.stacked.skeletons.blocks import reduction, relu_conv_bn
from foresee.spaces.four_nodes import EDGES
from foresee.spaces.nasbench201.space import NASBench201
from foresee.task import Task


def skeleton(space: NASBench201, task: Task) -> Skeleton:
    """The benchmark's networks, of any width and depth."""
    if space.variant != "benchmark":
        raise UnsupportedError(f"variant {space.variant} of {space.name} is not stacked: benchmark is")
    inputs, height, width = task.inputs
    widths = (space.channels, 2 * space.channels, 4 * space.channels)
    parts: list[Part] = [Conv("stem.0", inputs, widths[0], 3), Norm("stem.1")]
    place = 0
    for stage, channels in enumerate(widths):
        if stage:
            parts.append(reduction(f"cells.{place}", widths[stage - 1], channels))
            place += 1
        for _ in range(space.cells):
            parts.append(_cell(f"cells.{place}", channels))
            place += 1
    parts += [Norm("last.0"), Step.RELU, Step.AVERAGE, Linear("classifier", widths[-1], task.outputs)]
    return Skeleton((inputs, height, width), tuple(parts))


def _cell(name: str, channels: int) -> Cell:
    edges = []
    for number, (source, target) in enumerate(EDGES):
        edge = f"{name}.edges.{number}"
        ways: tuple[tuple[str, Chain], ...] = (
            ("skip_connect", (Step.IDENTITY,)),
            ("avg_pool_3x3", (Step.POOL,)),
            ("nor_conv_1x1", relu_conv_bn(edge, channels, channels, 1)),
            ("nor_conv_3x3", relu_conv_bn(edge, channels, channels, 3)),
        )
        edges.append(Edge(source, target, number, ways))
    return Cell(tuple(edges), channels)

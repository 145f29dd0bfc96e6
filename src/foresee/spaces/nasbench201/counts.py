"""Params and MACs of the networks of NAS-Bench-201, by formula."""

from __future__ import annotations

from functools import lru_cache

from foresee.spaces import counting
from foresee.spaces.blocks import image_shape
from foresee.spaces.counting import Counts
from foresee.spaces.nasbench201.architecture import OPS
from foresee.task import Task


@lru_cache(maxsize=256)
def formulas(task: Task, channels: int, cells: int, variant: str) -> tuple[Counts, dict[str, Counts]]:
    """Counts of all that is not an edge, and of one edge of all cells by its operation."""
    inputs, height, width = image_shape(task, "nasbench201")
    size = (height, width)
    affine = variant == "benchmark"
    fixed = counting.conv2d(inputs, channels, 3, size) + counting.norm(channels)
    convs = dict.fromkeys(("nor_conv_1x1", "nor_conv_3x3"), counting.NOTHING)
    for stage, wide in enumerate((channels, 2 * channels, 4 * channels)):
        if stage:
            size = counting.strided(size)
            fixed += counting.reduction(wide // 2, wide, size)
        for op, kernel in (("nor_conv_1x1", 1), ("nor_conv_3x3", 3)):
            convs[op] += counting.repeat(counting.relu_conv_bn(wide, wide, kernel, size, affine=affine), cells)
    fixed += counting.norm(4 * channels) + counting.linear(4 * channels, task.outputs)
    edges = {op: convs.get(op, counting.NOTHING) for op in OPS}
    if variant == "reference":  # every edge holds the parameters of all operations and computes one
        held = counting.total(edges.values()).params
        edges = {op: Counts(held, edge.macs) for op, edge in edges.items()}
    return fixed, edges

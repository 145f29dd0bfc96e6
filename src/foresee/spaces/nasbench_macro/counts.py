"""Params and MACs of the networks of NAS-Bench-Macro, by formula."""

from __future__ import annotations

from functools import lru_cache

from foresee.spaces import bottlenecks, counting
from foresee.spaces.blocks import image_shape
from foresee.spaces.bottlenecks import count_conv_bn
from foresee.spaces.counting import Counts
from foresee.spaces.nasbench_macro.architecture import BOTTLENECKS
from foresee.spaces.nasbench_macro.network import places
from foresee.task import Task


@lru_cache(maxsize=256)
def formulas(task: Task, channels: int, head: int) -> tuple[Counts, tuple[dict[str, Counts], ...]]:
    """Counts of all that is not a layer, and of each layer by its operation."""
    inputs, height, width = image_shape(task, "nasbench_macro")
    size, where, layers = (height, width), places(channels), []
    fixed = count_conv_bn(inputs, channels, 3, size)
    for place in where:
        costs = {op: bottlenecks.count(place.bottleneck(op), size) for op in BOTTLENECKS}
        size = counting.strided(size, place.stride)
        identity = counting.NOTHING if place.stride == 1 else count_conv_bn(place.inputs, place.outputs, 1, size)
        layers.append({"identity": identity, **costs})
    fixed += count_conv_bn(where[-1].outputs, head, 1, size) + counting.linear(head, task.outputs)
    return fixed, tuple(layers)

"""Params and MACs of mobile networks, by formula."""

from __future__ import annotations

from functools import lru_cache

from foresee.spaces import bottlenecks, counting
from foresee.spaces.blocks import image_shape
from foresee.spaces.bottlenecks import Shape, count_conv_bn
from foresee.spaces.counting import NOTHING, Counts, Size, strided
from foresee.spaces.mobile.architecture import Architecture
from foresee.spaces.mobile.designs import Design
from foresee.spaces.mobile.network import first_shape, places
from foresee.task import Task


@lru_cache(maxsize=8192)
def _layer(shape: Shape, size: Size) -> Counts:
    return bottlenecks.count(shape, size)


def count(architecture: Architecture, task: Task, design: Design) -> Counts:
    """The whole network."""
    inputs, height, width = image_shape(task, "mobile")
    size = strided((height, width), design.stem_stride)
    total = count_conv_bn(inputs, design.stem, 3, size)
    if design.first:
        total += _layer(first_shape(design), size)
    for place in places(design, tuple(map(len, architecture.stages))):
        total += _layer(place.shape(architecture.stages[place.stage][place.number], design), size)
        size = strided(size, place.stride)
    total += count_conv_bn(design.widths[-1], design.head, 1, size)
    hidden = counting.linear(design.head, design.features, bias=design.features_bias) if design.features else NOTHING
    return total + hidden + counting.linear(design.features or design.head, task.outputs)

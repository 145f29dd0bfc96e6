"""Params and MACs of the networks of the size space, by formula."""

from __future__ import annotations

from functools import lru_cache

from foresee.spaces import counting
from foresee.spaces.blocks import image_shape
from foresee.spaces.counting import Counts, Size
from foresee.spaces.nats_size.architecture import Architecture, blocks
from foresee.task import Task


def network(architecture: Architecture, task: Task) -> Counts:
    """The whole network."""
    inputs, *shape = image_shape(task, "nats_size")
    size, first, last = (shape[0], shape[1]), architecture.channels[0], architecture.channels[-1]
    total = counting.conv2d(inputs, first, 3, size) + counting.norm(first)
    for before, after, reduces in blocks(architecture):
        size = counting.strided(size) if reduces else size
        total += _block(before, after, size, reduces)
    return total + counting.norm(last) + counting.linear(last, task.outputs)


@lru_cache(maxsize=4096)
def _block(inputs: int, outputs: int, size: Size, reduces: bool) -> Counts:
    """One block; `size` is that of its output."""
    return counting.reduction(inputs, outputs, size) if reduces else _cell(inputs, outputs, size)


def _cell(inputs: int, outputs: int, size: Size) -> Counts:
    reading, inner = (counting.relu_conv_bn(before, outputs, 3, size) for before in (inputs, outputs))
    cell = counting.repeat(reading, 2) + counting.repeat(inner, 3)
    if inputs == outputs:
        return cell
    return cell + counting.conv2d(inputs, outputs, 1, size) + counting.norm(outputs)

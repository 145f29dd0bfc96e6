"""Counts of PlainNet networks: exact ones, and the two that the public code keeps its budgets by."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from foresee.spaces import counting
from foresee.spaces.blocks import image_shape
from foresee.spaces.counting import NOTHING, Counts, Size, strided
from foresee.spaces.plainnet.architecture import Architecture, Block, Conv, Unit, units
from foresee.spaces.plainnet.network import Form, adapted, squeezed
from foresee.task import Task


def _conv_bn(conv: Conv, size: Size, *, bias: bool = False) -> Counts:
    made = counting.conv2d(conv.inputs, conv.outputs, conv.kernel, size, groups=conv.groups, bias=bias)
    return made + counting.norm(conv.outputs)


def _unit(unit: Unit, size: Size, form: Form) -> tuple[Counts, Size]:
    total = NOTHING
    for conv in unit.convs:
        size = strided(size, conv.stride)
        total += _conv_bn(conv, size)
        if form.squeeze_excite and conv.groups > 1:
            wide, narrow = conv.outputs, squeezed(conv.outputs)
            total += _conv_bn(Conv(wide, narrow, 1), (1, 1)) + _conv_bn(Conv(narrow, wide, 1), (1, 1))
    if unit.residual and form.residual and unit.projected:
        total += _conv_bn(unit.projection, size, bias=True)
    return total, size


@lru_cache(maxsize=8192)
def _block(block: Block, size: Size, form: Form) -> tuple[Counts, Size]:
    total = NOTHING
    for unit in units(block):
        part, size = _unit(unit, size, form)
        total += part
    return total, size


def count(architecture: Architecture, task: Task, form: Form) -> Counts:
    """Parameters and MACs."""
    channels, height, width = image_shape(task, "of blocks")
    total, size = NOTHING, (height, width)
    for block in adapted(architecture, channels).blocks:
        part, size = _block(block, size, form)
        total += part
    return total + counting.linear(architecture.blocks[-1].outputs, task.outputs)


# -- the public code's counters -------------------------------------------------------------------------------------------
class Benchmark(NamedTuple):
    """What the public code calls model size and FLOPs."""

    size: int
    flops: float


@lru_cache(maxsize=8192)
def _benchmark_block(block: Block, size: Size) -> tuple[Benchmark, Size]:
    params, flops = 0, 0.0
    for unit in units(block):
        for conv in unit.convs:
            size = strided(size, conv.stride)
            made = counting.conv2d(conv.inputs, conv.outputs, conv.kernel, size, groups=conv.groups)
            params += made.params + conv.outputs
            flops += made.macs + conv.outputs * size[0] * size[1]
        if unit.projected:
            bridge = unit.projection
            weights = bridge.inputs * bridge.outputs + bridge.outputs
            params += weights
            flops += weights * size[0] * size[1] / bridge.stride**2  # the size is divided already: twice in all
    return Benchmark(params, flops), size


def benchmark(architecture: Architecture, task: Task) -> Benchmark:
    """Model size: a norm counts its channels once, the head's bias is one number, that of a bridge none.

    FLOPs: multiply-accumulates and one for each output of a norm; those of a bridge are divided by its stride squared once
    too often. Both are for the network with its bridges and without squeeze-and-excitation.
    """
    channels, height, width = image_shape(task, "of blocks")
    total, size = Benchmark(0, 0.0), (height, width)
    for block in adapted(architecture, channels).blocks:
        part, size = _benchmark_block(block, size)
        total = Benchmark(total.size + part.size, total.flops + part.flops)
    head = architecture.blocks[-1].outputs * task.outputs
    return Benchmark(total.size + head + 1, total.flops + head)

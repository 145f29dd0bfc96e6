"""The size space of NATS-Bench: five blocks of one fixed cell, of which an architecture chooses how wide they are.

A block is one choice between as many ways as it has pairs of widths, in and out; `16:40` reads 16 channels and gives 40. So
architectures that have a block in common go through it together, with the channels that it has: nothing is computed with
zeros, and looks see each map as it is in the network. From block to block maps are filled up to the widest, for the next one
puts architectures together anew. The stem is part of the first block, and what follows the last cell is part of the last.
"""

from __future__ import annotations

from itertools import product

from foresee.scoring.stacked.skeleton import Chain, Conv, Either, First, Fixed, Linear, Norm, Part, Skeleton, Step
from foresee.scoring.stacked.skeletons.blocks import reduction, relu_conv_bn
from foresee.spaces.four_nodes import EDGES
from foresee.spaces.nats_size.architecture import LAYERS, REDUCTIONS, Architecture, blocks
from foresee.spaces.nats_size.network import OPS
from foresee.spaces.nats_size.space import NATSSize
from foresee.task import Task


def skeleton(space: NATSSize, task: Task) -> Skeleton:
    """The networks of any widths."""
    inputs, height, width = task.inputs
    parts = []
    for layer in range(LAYERS):
        pairs = product(space.widths, repeat=2) if layer else ((first, first) for first in space.widths)
        ways = []
        for before, after in pairs:
            start: Chain = (First(before),) if layer else _stem(inputs, after)
            end: Chain = () if layer < LAYERS - 1 else _head(after, task.outputs)
            ways.append((_choice(before, after), (*start, _block(layer, before, after), *end)))
        parts.append(Either(layer, tuple(ways)))
    return Skeleton((inputs, height, width), tuple(parts))


def choices(space: NATSSize, architecture: Architecture) -> tuple[str, ...]:
    """The widths of each block."""
    return tuple(_choice(before, after) for before, after, _ in blocks(architecture))


def _choice(before: int, after: int) -> str:
    return f"{before}:{after}"


def _stem(inputs: int, outputs: int) -> Chain:
    return Conv("stem.0", inputs, outputs, 3), Norm("stem.1")


def _head(width: int, outputs: int) -> Chain:
    return Norm("last.0"), Step.RELU, Step.AVERAGE, Linear("classifier", width, outputs)


def _block(layer: int, before: int, after: int) -> Part:
    name = f"cells.{layer}"
    if layer in REDUCTIONS:
        return reduction(name, before, after)
    edges = enumerate(zip(EDGES, OPS, strict=True))
    return Fixed(
        tuple(
            (source, target, _edge(f"{name}.edges.{number}", op, after if source else before, after))
            for number, ((source, target), op) in edges
        )
    )


def _edge(name: str, op: str, before: int, after: int) -> Chain:
    if op == "nor_conv_3x3":
        return relu_conv_bn(name, before, after, 3)
    return (Step.IDENTITY,) if before == after else (Conv(f"{name}.0", before, after, 1), Norm(f"{name}.1"))

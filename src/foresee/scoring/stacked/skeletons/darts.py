"""DARTS: a stem, normal and reduction cells that read the last two maps, classifier.

A node has two edges, each of which chooses an operation and the node that it reads. So a choice names both, as in
`sep_conv_3x3 of 0`, and weights lie where the edge stands in the genotype, whichever node it reads. Cells are made before
the stem.
"""

from __future__ import annotations

from foresee.errors import UnsupportedError
from foresee.scoring.stacked.skeleton import Cell, Chain, Conv, Edge, Linear, Norm, Skeleton, Step
from foresee.scoring.stacked.skeletons.reduced import reduced
from foresee.spaces.darts.cells import KINDS, NODES, OPS, Architecture
from foresee.spaces.darts.network import Place, plan
from foresee.spaces.darts.space import DARTS
from foresee.task import Task

#: edges of a cell, two of each node
_EDGES = 2 * len(NODES)
_JOINED = dict.fromkeys(KINDS, len(NODES))


def skeleton(space: DARTS, task: Task) -> Skeleton:
    """The networks for small images and for large ones, of any width and depth."""
    if space.auxiliary:
        raise UnsupportedError(f"{space.name} with an auxiliary head is not stacked: without one it is")
    if space.drop_path:
        raise UnsupportedError(f"{space.name} with drop_path {space.drop_path} is not stacked: 0 is")
    inputs, height, width = task.inputs
    where, (_, last) = plan(_JOINED, space.form)
    stem = _stem(space.network, inputs, space.channels)
    cells = tuple(_cell(f"cells.{number}", place) for number, place in enumerate(where))
    head: Chain = (Step.AVERAGE, Linear("classifier", last, task.outputs))
    return Skeleton((inputs, height, width), (*stem, *cells, *head), made=(*cells, *stem, *head))


def _stem(network: str, inputs: int, channels: int) -> Chain:
    if network == "cifar":
        return Conv("stem.0.0", inputs, 3 * channels, 3), Norm("stem.0.1")
    half = max(1, channels // 2)
    return (
        *(Conv("stem.0.0", inputs, half, 3, stride=2), Norm("stem.0.1")),
        *(Step.RELU, Conv("stem.0.3", half, channels, 3, stride=2), Norm("stem.0.4"), Step.BEFORE),
        *(Step.RELU, Conv("stem.1.1", channels, channels, 3, stride=2), Norm("stem.1.2")),
    )


def choices(space: DARTS, architecture: Architecture) -> tuple[str, ...]:
    """What it chose: the edges of the normal cell, then those of the reduction cell, in the genotype's order."""
    for kind in KINDS:
        cell = architecture[kind]
        if cell.concat != NODES or len(cell.edges) != _EDGES or any(op not in OPS for op, _ in cell.edges):
            raise UnsupportedError(f"{kind} cell: stacks have the space's operations and four nodes, joined in order")
    return tuple(_choice(op, source) for kind in KINDS for op, source in architecture[kind].edges)


def _choice(op: str, source: int) -> str:
    return f"{op} of {source}"


def _cell(name: str, place: Place) -> Cell:
    first = _EDGES * KINDS.index(place.kind)
    edges = [edge for number in range(_EDGES) for edge in _edges(f"{name}.edges.{number}", first, number, place)]
    before, last = place.inputs
    older = reduced if place.halve else _read
    reads = (
        older(f"{name}.preprocess.0", before, place.channels),
        _read(f"{name}.preprocess.1", last, place.channels),
    )
    return Cell(tuple(edges), place.channels, place.stride, reads, NODES)


def _read(name: str, inputs: int, outputs: int) -> Chain:
    return Step.RELU, Conv(f"{name}.1", inputs, outputs, 1), Norm(f"{name}.2")


def _edges(name: str, first: int, number: int, place: Place) -> list[Edge]:
    """One from each node that may be read; the two that the cell reads are twice as large where it halves them."""
    node, small = NODES[number // 2], _ways(name, place.channels, 1)
    large = _ways(name, place.channels, place.stride) if place.stride > 1 else small
    return [
        Edge(
            *(source, node, first + number),
            tuple((_choice(op, source), way) for op, way in (large if source < 2 else small).items()),
        )
        for source in range(node)
    ]


def _ways(name: str, channels: int, stride: int) -> dict[str, Chain]:
    halves = stride > 1

    def separable(place: int, kernel: int, stride: int, dilation: int) -> Chain:
        """ReLU, each channel by itself, all of them at each position, norm."""
        alone = Conv(f"{name}.{place + 1}", 1, channels, kernel, stride, dilation)
        return Step.RELU, alone, Conv(f"{name}.{place + 2}", channels, channels, 1), Norm(f"{name}.{place + 3}")

    return {
        "max_pool_3x3": (Step.GREATEST_HALVING if halves else Step.GREATEST,),
        "avg_pool_3x3": (Step.POOL_HALVING if halves else Step.POOL,),
        "skip_connect": reduced(name, channels, channels) if halves else (Step.IDENTITY,),
        **{f"sep_conv_{k}x{k}": (*separable(0, k, stride, 1), *separable(4, k, 1, 1)) for k in (3, 5)},
        **{f"dil_conv_{k}x{k}": separable(0, k, stride, 2) for k in (3, 5)},
    }

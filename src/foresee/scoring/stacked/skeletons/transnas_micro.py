"""TransNAS-Bench-101, micro: a stem that divides the image's size by four, ten cells of which three halve the map, a head.

The cells that change the shape do so inside the operations of the edges that leave their input; a skip is a reduction there.
"""

from __future__ import annotations

from foresee.errors import UnsupportedError
from foresee.scoring.stacked.skeleton import Cell, Chain, Conv, Edge, Linear, Norm, Part, Skeleton, Step
from foresee.scoring.stacked.skeletons.reduced import reduced
from foresee.spaces.four_nodes import EDGES
from foresee.spaces.transnas.heads import TILES
from foresee.spaces.transnas.network import Place, edge_place, places, stem_width
from foresee.spaces.transnas.space import TransNASMicro
from foresee.spaces.transnas.text import MICRO_MODULES
from foresee.task import Task

#: heads that end in a linear layer
_HEADS = ("class", "jigsaw", "regression")
#: weights are drawn normally, sixteen at a time: so wide, every layer of a cell is a whole number of sixteens
_EVEN = 4


def skeleton(space: TransNASMicro, task: Task) -> Skeleton:
    """The networks with a head that names classes or values."""
    if space.head not in _HEADS:
        raise UnsupportedError(f"head {space.head} of {space.name} is not stacked: {', '.join(_HEADS)} are")
    if space.channels % _EVEN:
        raise UnsupportedError(f"{space.name} with {space.channels} channels is not stacked: multiples of {_EVEN} are")
    inputs, height, width = task.inputs
    jigsaw, narrow = space.head == "jigsaw", stem_width(space.channels)
    where = places(MICRO_MODULES, space.channels)
    parts: list[Part] = [
        Step.TILES if jigsaw else Step.IDENTITY,
        *(Conv("stem.0", inputs, narrow, 3, stride=2), Norm("stem.1")),
        *(Step.RELU, Conv("stem.2.1", narrow, space.channels, 3, stride=2), Norm("stem.2.2")),
    ]
    parts += [_cell(f"cells.{number}", place) for number, place in enumerate(where)]
    last = where[-1].outputs
    head: Chain = (Linear("head.2", last, task.outputs),)
    if jigsaw:
        head = (Step.JOIN, Linear("head.3", TILES * last, task.outputs))
    return Skeleton((inputs, height, width), (*parts, Step.AVERAGE, *head), normal=True)


def _cell(name: str, place: Place) -> Cell:
    edges = []
    for number, (source, target) in enumerate(EDGES):
        edge, here = f"{name}.edges.{number}", edge_place(place, source)
        sides = here.inputs, here.outputs
        ways: tuple[tuple[str, Chain], ...] = (
            ("skip_connect", (Step.IDENTITY,) if here.keeps else reduced(edge, *sides)),
            ("nor_conv_1x1", (Step.RELU, Conv(f"{edge}.1", *sides, 1, here.stride), Norm(f"{edge}.2"))),
            ("nor_conv_3x3", (Step.RELU, Conv(f"{edge}.1", *sides, 3, here.stride), Norm(f"{edge}.2"))),
        )
        edges.append(Edge(source, target, number, ways))
    return Cell(tuple(edges), place.outputs, place.stride)

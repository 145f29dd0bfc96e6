"""How much there is of everything in the networks of a skeleton: maps, weights, and numbers that are drawn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from foresee.scoring.stacked.skeleton import (
    GRID,
    Cell,
    Chain,
    Choice,
    Concat,
    Conv,
    Either,
    First,
    Fixed,
    Linear,
    Part,
    Shape,
    Skeleton,
    Step,
    Sum,
    ways_of,
)
from foresee.scoring.stacked.transformer import Attention, Patches, Tokens

#: maps of a cell beside those of its edges: what it reads, and the sums of its nodes
_OF_CELL = 4
#: how many maps are there beside one that layers make, for one beside another that is filled up
_BESIDE = 6
#: what makes a vector of the last map
_LAST = (Step.AVERAGE, Step.MEAN)


class Sizes:
    """Of one sample in one network, in numbers.

    `largest` is the largest map of all networks and `last` the shape of the last one before the global average, the widest
    where networks differ; `widest` is the largest layer, `longest` what a network draws at most. What differs between
    architectures are the methods.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self.largest = 0
        self._largest: dict[Choice, int] = {}
        self._maps: Counter[Choice | None] = Counter()
        self.last = self._walk(skeleton.parts, skeleton.image)
        self._weights: Counter[Choice | None] = Counter()
        self.widest = 0
        drawn: Counter[Choice | None] = Counter()
        for layer, choices in skeleton.layers():
            self.widest = max(self.widest, layer.numbers)
            for choice in choices or (None,):
                self._weights[choice] += layer.numbers
                drawn[choice] += layer.drawn + skeleton.again(layer)
        most: dict[int, int] = {}
        for choice, count in drawn.items():
            if choice is not None:
                most[choice[0]] = max(most.get(choice[0], 0), count)
        self.longest = drawn[None] + sum(most.values())

    def held(self, ops: Sequence[str]) -> int:
        """What the maps of its cells have that gradients are made of."""
        return self._maps[None] + sum(self._maps[choice] for choice in enumerate(ops))

    def largest_of(self, ops: Sequence[str]) -> int:
        """The largest map of an architecture."""
        return max(self.largest, *(self._largest.get(choice, 0) for choice in enumerate(ops)))

    def weights(self, ops: Sequence[str]) -> int:
        """How many weights an architecture has."""
        return self._weights[None] + sum(self._weights[choice] for choice in enumerate(ops))

    def _walk(self, parts: Chain, shape: Shape) -> Shape:
        before: Shape | None = None
        for part in parts:
            if part in _LAST:
                break
            if isinstance(part, Either):
                self._either(part, shape)
                ends = [way[:place] for _, way in part.ways for place, one in enumerate(way) if one in _LAST]
                if ends:
                    return max(_after(way, shape) for way in ends)
            if isinstance(part, Cell):
                self._cell(part, (before or shape, shape)[-len(part.inputs) :])
            if isinstance(part, Cell) or part is Step.BEFORE:
                before = shape
            shape = after(part, shape)
            if part not in (Step.IDENTITY, Step.TILES) and not isinstance(part, Either):
                self.largest = max(self.largest, math.prod(shape))
        return shape

    def _either(self, part: Either, shape: Shape) -> None:
        given = math.prod(after(part, shape))
        for option, way in part.ways:
            maps = list(_left(way, shape))
            self._maps[part.pick, option] += sum(maps) + 2 * given  # filled up, and in order again
            # What is filled up is there four times, where a layer's map comes with its patches.
            self._largest[part.pick, option] = max(*maps, given // _BESIDE)

    def _cell(self, cell: Cell, shapes: tuple[Shape, ...]) -> None:
        inside = cell.outputs, *after(cell, shapes[-1])[1:]
        self._maps[None] += (_OF_CELL + len(cell.joined)) * math.prod(inside)
        states = [_after(way, shape) for way, shape in zip(cell.inputs, shapes, strict=True)]
        for way, shape in zip(cell.inputs, shapes, strict=True):
            self._maps[None] += sum(_left(way, shape))
        for edge in cell.edges:
            for option, way in edge.ways:
                reads = states[edge.source] if edge.source < len(states) else inside
                maps = list(_left(way, reads))
                self._maps[edge.pick, option] += sum(maps) + math.prod(inside)  # and once more in the sum
                self.largest = max(self.largest, *maps)


def _left(parts: Chain, shape: Shape) -> Iterator[int]:
    """What the maps have that each of these parts leaves behind."""
    for part in parts:
        if isinstance(part, Fixed):
            inside = after(part, shape)
            for source, _, way in part.ways:
                yield from _left(way, inside if source else shape)
        else:
            for way in ways_of(part):
                yield from _left(way, shape)
        if isinstance(part, Attention):  # what each token heeds of each
            yield part.heads * math.prod(shape[1:]) ** 2
        shape = after(part, shape)
        yield math.prod(shape)


def after(part: Part, shape: Shape) -> Shape:
    """The shape that a part makes of this one.

    >>> after(Conv("stem", 3, 16, 3, stride=2), (3, 33, 33))
    (16, 17, 17)
    """
    channels, height, width = shape
    match part:
        case Conv():
            return part.outputs, -(-height // part.stride), -(-width // part.stride)
        case Cell():
            outputs = part.outputs * max(1, len(part.joined))
            return outputs, -(-height // part.stride), -(-width // part.stride)
        case Linear():
            return part.outputs, height, width
        case Patches():
            return part.outputs, height // part.kernel, width // part.kernel
        case Tokens():
            return channels, height * width + 1, 1
        case Attention():
            return part.heads * part.width, height, width
        case Step.HALVE | Step.POOL_HALVING | Step.GREATEST_HALVING:
            return channels, -(-height // 2), -(-width // 2)
        case Step.TILES:
            return channels, height // GRID, width // GRID
        case Step.AVERAGE | Step.MEAN:
            return channels, 1, 1
        case Step.JOIN:
            return channels * GRID**2, height, width
        case Step.SHIFT:  # as many as there are when every second one of it is taken
            return shape
        case Sum():
            return _after(part.main, shape)
        case Concat():
            made = [_after(way, shape) for way in part.ways]
            return sum(one[0] for one in made), *made[0][1:]
        case First():
            return part.channels, height, width
        case Fixed():
            return _after(part.ways[0][2], shape)
        case Either():
            return max(_after(way, shape) for _, way in part.ways)
    return shape


def _after(parts: Chain, shape: Shape) -> Shape:
    for part in parts:
        shape = after(part, shape)
    return shape

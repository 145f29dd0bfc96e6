"""The one-shot network of NAS-Bench-1Shot1: choice blocks with weighted inputs.

Each node of a cell is a *choice block*: the weighted sum of its operations, applied to the weighted sum of what it may
read (the cell's input through a 1x1 projection, and earlier blocks). The cell's output joins all blocks, each times its
weight, and adds the projected cell input times its own. So a cell of width C with n nodes has n C channels, where the
NAS-Bench-101 network of the same cell has C: a path of this network is not that network, and shares no weights with it.

Choices: `op_1`, `op_2`, ... (one operation each), and `inputs_3`, ..., `inputs_output` (as many as the space says, where
there is a choice). An architecture's path has a 1 for everything it uses. A block that nothing needs is not computed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import torch
from torch import Tensor, nn

from foresee.checks import whole
from foresee.errors import InputError, UnknownNameError
from foresee.spaces.blocks import global_average, image_shape
from foresee.spaces.nasbench1shot1.wiring import Wiring
from foresee.spaces.nasbench101.cell import Architecture
from foresee.spaces.nasbench101.network import MAKERS, MOMENTUM, conv_bn_relu
from foresee.spaces.one_shot import Choice, Mixed, OneShot, one_hot, share, tensors
from foresee.spaces.weighing import ONE, Live, Weights
from foresee.task import Task

#: in the order of the published code
OPTIONS = ("maxpool3x3", "conv3x3", "conv1x1")
VARIANTS = ("corrected", "published")
#: by choice the weights to compute with
Present = Mapping[str, Live]


class ChoiceCell(nn.Module):
    """A cell of choice blocks, all or some of them.

    Args:
        wiring: which vertices read how many.
        blocks: the operations that each node holds.
        projected: the vertices that may read the cell's input.
        inputs: channels of the cell's input.
        width: channels of each block; the cell's output has as many for each node of the space.
        partial: 1 / partial of the channels pass through the operations.
        momentum: of batch norm.
    """

    def __init__(
        self,
        wiring: Wiring,
        blocks: Mapping[int, Collection[str]],
        projected: Collection[int],
        *,
        inputs: int,
        width: int,
        partial: int,
        momentum: float,
    ) -> None:
        super().__init__()
        self.wiring, self.width = wiring, width
        self.blocks = nn.ModuleDict(
            {
                str(node): Mixed({op: MAKERS[op](width // partial, momentum) for op in ops}, partial=partial)
                for node, ops in blocks.items()
            }
        )
        self.projections = nn.ModuleDict(
            {
                str(vertex): conv_bn_relu(
                    inputs, width if vertex <= wiring.nodes else width * wiring.nodes, 1, momentum=momentum
                )
                for vertex in projected
            }
        )

    def forward(self, x: Tensor, weights: Present) -> Tensor:
        """(B, inputs, H, W) to (B, width x nodes, H, W)."""
        zeros = x.new_zeros(len(x), self.width, *x.shape[2:])
        values = [zeros] * (self.wiring.nodes + 1)  # the place of the cell's input is never read
        last = self.wiring.nodes + 1
        for node in sorted(needed(self.wiring, weights) - {last}):
            read = input_weights(self.wiring, node, weights)
            total = self._projection(x, node, read)
            for value, weight in zip(values[1:node], read[1:], strict=True):
                if weight is not None:
                    total = _plus(total, weight.to(x) * value)
            values[node] = self.blocks[str(node)](zeros if total is None else total, weights[f"op_{node}"])
        read = input_weights(self.wiring, last, weights)
        joined = [
            zeros if weight is None else weight.to(x) * value
            for weight, value in zip(read[1:], values[1:], strict=True)
        ]
        return _plus(self._projection(x, last, read), torch.cat(joined, 1))

    def _projection(self, x: Tensor, vertex: int, read: Live) -> Tensor | None:
        """The cell's input as a vertex sees it, times its weight."""
        weight = read[0]
        if weight is None:
            return None
        return weight.times(self.projections[str(vertex)], x)


def _plus(total: Tensor | None, term: Tensor) -> Tensor:
    return term if total is None else total + term


class ChoiceNetwork(nn.Module):
    """Stem, cells with pools between them, a 1x1 convolution, global average, linear; all of it under given weights.

    `variant` decides two things. `published` pools with a padding of 1 (32, 17, 9 instead of 32, 16, 8) and gives the batch
    norms inside cells a momentum of 0.997 in torch's sense, so that running statistics are those of the last batch.
    `corrected` pools without padding and has 0.003, which is what NAS-Bench-101 has.
    """

    def __init__(
        self,
        wiring: Wiring,
        blocks: Mapping[int, Collection[str]],
        projected: Collection[int],
        task: Task,
        *,
        channels: int,
        cells: int,
        partial: int,
        variant: str,
    ) -> None:
        super().__init__()
        published = variant == "published"
        momentum = 0.997 if published else MOMENTUM
        self.stem = conv_bn_relu(image_shape(task, "nasbench1shot1")[0], channels, 3, momentum=momentum)
        self.pools, self.cells = nn.ModuleDict(), nn.ModuleList()
        inputs, width = channels, channels
        for place in range(cells):
            if place in (cells // 3, 2 * cells // 3):
                width *= 2
                pool = nn.MaxPool2d(2, padding=1) if published else nn.MaxPool2d(2, ceil_mode=True)
                self.pools[str(place)] = pool
            self.cells.append(
                ChoiceCell(wiring, blocks, projected, inputs=inputs, width=width, partial=partial, momentum=momentum)
            )
            inputs = width * wiring.nodes
        self.last = nn.Sequential(
            nn.ReLU(), nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width, affine=False)
        )
        self.pool = global_average()
        self.classifier = nn.Linear(width, task.outputs)

    def stages(self, x: Tensor, weights: Present) -> list[Tensor]:
        """Output of the stem, then of each cell."""
        maps: list[Tensor] = [self.stem(x)]
        for place, cell in enumerate(self.cells):
            key = str(place)
            maps.append(cell(self.pools[key](maps[-1]) if key in self.pools else maps[-1], weights))
        return maps

    def pre_gap(self, x: Tensor, weights: Present) -> Tensor:
        """The map before global pooling."""
        out: Tensor = self.last(self.stages(x, weights)[-1])
        return out

    def forward(self, x: Tensor, weights: Present) -> Tensor:
        """(B, channels, H, W) to logits (B, outputs)."""
        logits: Tensor = self.classifier(self.pool(self.pre_gap(x, weights)))
        return logits


class PathNetwork(nn.Module):
    """The stand-alone network of one path: the one-shot network with all that the path does not use left out."""

    def __init__(self, network: ChoiceNetwork, weights: Present) -> None:
        super().__init__()
        self.network = network
        self.weights = dict(weights)

    def stages(self, x: Tensor) -> list[Tensor]:
        """Output of the stem, then of each cell."""
        return self.network.stages(x, self.weights)

    def pre_gap(self, x: Tensor) -> Tensor:
        """The map before global pooling."""
        return self.network.pre_gap(x, self.weights)

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) to logits (B, outputs)."""
        logits: Tensor = self.network(x, self.weights)
        return logits


class ChoiceBlocks(OneShot[Architecture]):
    """The one-shot network of a NAS-Bench-1Shot1 space.

    `inherit` gives the stand-alone network of this form, not the NAS-Bench-101 network that `space.build` gives.

    Args:
        wiring: the space's.
        task: images of any size and number of channels.
        channels: width of a block in the first third of the cells; it doubles twice. The published network has 16.
        cells: their number, at least 3; published 9.
        partial: only 1 / partial of a block's channels pass through its operations (PC-DARTS).
        variant: `corrected`, or `published` with its traps; see `ChoiceNetwork`.
        trim: whether `derive` cuts loose ends.
    """

    def __init__(
        self,
        wiring: Wiring,
        task: Task,
        *,
        channels: int = 16,
        cells: int = 9,
        partial: int = 1,
        variant: str = "corrected",
        trim: bool = False,
    ) -> None:
        for key, value, least in (("channels", channels, 1), ("cells", cells, 3), ("partial", partial, 1)):
            whole(key, value, least, of="one-shot network")
        if channels % partial:
            raise InputError(f"one-shot network: partial {partial} must divide the {channels} channels")
        if variant not in VARIANTS:
            raise UnknownNameError("variant of the one-shot network", str(variant), VARIANTS)
        ops = [Choice(f"op_{node}", OPTIONS) for node in range(1, wiring.nodes + 1)]
        inputs = [Choice(_inputs(wiring, v), tuple(map(str, range(v)))) for v in wiring.free]
        super().__init__([*ops, *inputs])
        self.counts = {_inputs(wiring, vertex): wiring.reads[vertex - 1] for vertex in wiring.free}
        self.wiring, self.task, self.trim = wiring, task, trim
        self.shape = {"channels": channels, "cells": cells, "partial": partial}
        self.variant = variant
        everything = dict.fromkeys(range(1, wiring.nodes + 1), OPTIONS)
        self.network = self._network(everything, range(1, wiring.nodes + 2))

    def _network(self, blocks: Mapping[int, Collection[str]], projected: Collection[int]) -> ChoiceNetwork:
        return ChoiceNetwork(self.wiring, blocks, projected, self.task, **self.shape, variant=self.variant)

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) to logits (B, outputs) under the present weights."""
        logits: Tensor = self.network(x, {choice.name: self.live(choice.name) for choice in self.choices})
        return logits

    def path(self, architecture: Architecture) -> dict[str, Tensor]:
        """A 1 for each operation and each input the architecture has."""
        self.wiring.check(architecture, "trimmed" if self.trim else "kept")
        weights = {
            f"op_{node}": one_hot(OPTIONS.index(op), len(OPTIONS)) for node, op in enumerate(architecture.ops, 1)
        }
        for vertex in self.wiring.free:
            read = architecture.parents[vertex - 1]
            weights[_inputs(self.wiring, vertex)] = torch.tensor([float(v in read) for v in range(vertex)])
        return weights

    def derive(self, weights: Weights) -> Architecture:
        """For each node the operation, and for each vertex the inputs, of greatest weight (the first ones, in a tie)."""
        ops = [int(weights[f"op_{node}"].detach().argmax()) for node in range(1, self.wiring.nodes + 1)]
        parents = []
        for vertex, count in enumerate(self.wiring.reads, 1):
            order = list(range(vertex))
            if vertex in self.wiring.free:
                read = weights[_inputs(self.wiring, vertex)].tolist()
                order.sort(key=read.__getitem__, reverse=True)
            parents.append(tuple(sorted(order[:count])))
        cell = Architecture(tuple(OPTIONS[op] for op in ops), tuple(parents))
        return self.wiring.trimmed(cell) if self.trim else cell

    def inherit(self, architecture: Architecture) -> PathNetwork:
        """The stand-alone network of the path, in this network's own form, its weights in the same storage."""
        path = {name: vector.tolist() for name, vector in self.path(architecture).items()}
        weights = {name: tuple(ONE if number else None for number in numbers) for name, numbers in path.items()}
        used = needed(self.wiring, weights)
        blocks = {node: [architecture.ops[node - 1]] for node in sorted(used) if node <= self.wiring.nodes}
        projected = [v for v in sorted(used) if input_weights(self.wiring, v, weights)[0] is not None]
        held = weights | {f"op_{node}": (ONE,) for node in blocks}
        with torch.device("meta"):
            network = PathNetwork(self._network(blocks, projected), held)
        share(network, tensors(self))
        return network.train(self.training)


def _inputs(wiring: Wiring, vertex: int) -> str:
    """Name of the choice of a vertex's inputs."""
    return "inputs_output" if vertex > wiring.nodes else f"inputs_{vertex}"


def input_weights(wiring: Wiring, vertex: int, weights: Present) -> Live:
    """Weight of each vertex that `vertex` may read; ones where there is nothing to choose."""
    return weights[_inputs(wiring, vertex)] if vertex in wiring.free else (ONE,) * vertex


def needed(wiring: Wiring, weights: Present) -> set[int]:
    """The output's vertex, and every node whose value or whose gradient reaches it."""
    last = wiring.nodes + 1
    found = {last}
    for vertex in range(last, 0, -1):
        if vertex in found:
            read = enumerate(input_weights(wiring, vertex, weights))
            found.update(source for source, weight in read if source and weight is not None)
    return found

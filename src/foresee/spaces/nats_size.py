"""The size space of NATS-Bench: one fixed cell, five widths; 32,768 networks.

Stem, cell, reduction, cell, reduction, cell, BN-ReLU, global average, linear: the text `c1:c2:c3:c4:c5` gives the channels
after each of the five blocks in the middle (the stem has c1 as well).

>>> space = NATSSize()
>>> one = space.parse("8:16:32:48:64")
>>> space.counts(one, Task((3, 32, 32), 10))
Counts(params=251394, macs=26780288)
>>> space.benchmark_flops(one, Task((3, 32, 32), 10))
26780298
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from foresee.errors import InputError, UnknownNameError
from foresee.spaces import counting
from foresee.spaces.base import Counts, Graph, Space, spaces
from foresee.spaces.blocks import Reduction, image_shape, relu_conv_bn
from foresee.spaces.counting import Size
from foresee.spaces.nasbench201 import EDGES, Cell
from foresee.task import Task

if TYPE_CHECKING:
    from foresee.spaces.nats_size_one_shot import NATSSizeOneShot

#: the fixed cell: the operation of each edge of NAS-Bench-201
OPS = ("nor_conv_3x3", "nor_conv_3x3", "nor_conv_3x3", "skip_connect", "nor_conv_3x3", "nor_conv_3x3")
LAYERS = 5
REDUCTIONS = (1, 3)
CANDIDATES = 8
SAMPLINGS = ("uniform", "published")
_SETTINGS = {"step": 8, "sampling": "uniform"}


@dataclass(frozen=True)
class Architecture:
    """The channels of the five blocks. Its `str` is the benchmark's text."""

    channels: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.channels) != LAYERS:
            raise InputError(f"{len(self.channels)} widths: expected {LAYERS}, such as 8:16:32:48:64")
        if min(self.channels) < 1:
            raise InputError(f"widths {self}: every one must be at least 1")

    def __str__(self) -> str:
        return ":".join(map(str, self.channels))


def blocks(architecture: Architecture) -> Iterator[tuple[int, int, bool]]:
    """Channels in, channels out and whether it reduces, for each of the five blocks."""
    before = (architecture.channels[0], *architecture.channels)
    for layer, (inputs, outputs) in enumerate(zip(before, architecture.channels, strict=False)):
        yield inputs, outputs, layer in REDUCTIONS


# -- the network --------------------------------------------------------------------------------------------------------
def make_cell(inputs: int, outputs: int) -> Cell:
    """The fixed cell. Edges from its input may change the width; the skip is then a 1x1 convolution with batch norm."""
    return Cell(OPS, [_make_edge(op, inputs if source == 0 else outputs, outputs) for (source, _), op in _edges()])


def _edges() -> Iterator[tuple[tuple[int, int], str]]:
    return zip(EDGES, OPS, strict=True)


def _make_edge(op: str, inputs: int, outputs: int) -> nn.Module:
    if op == "nor_conv_3x3":
        return relu_conv_bn(inputs, outputs, 3)
    if inputs == outputs:
        return nn.Identity()
    return nn.Sequential(nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs))


class Network(nn.Module):
    """The whole network; `cells` holds cells and reductions in order."""

    def __init__(self, architecture: Architecture, task: Task) -> None:
        super().__init__()
        inputs, first, last = (
            image_shape(task, NATSSize.name)[0],
            architecture.channels[0],
            architecture.channels[-1],
        )
        self.stem = nn.Sequential(nn.Conv2d(inputs, first, 3, padding=1, bias=False), nn.BatchNorm2d(first))
        self.cells = nn.ModuleList(
            Reduction(before, after) if reduces else make_cell(before, after)
            for before, after, reduces in blocks(architecture)
        )
        self.last = nn.Sequential(nn.BatchNorm2d(last), nn.ReLU())
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(1))
        self.classifier = nn.Linear(last, task.outputs)

    def stages(self, x: Tensor) -> list[Tensor]:
        """Output of the stem, then of each cell and reduction."""
        maps: list[Tensor] = [self.stem(x)]
        for cell in self.cells:
            maps.append(cell(maps[-1]))
        return maps

    def pre_gap(self, x: Tensor) -> Tensor:
        """The map before global pooling, (B, c5, H/4, W/4)."""
        out: Tensor = self.last(self.stages(x)[-1])
        return out

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) to logits (B, outputs)."""
        logits: Tensor = self.classifier(self.pool(self.pre_gap(x)))
        return logits


def _count_cell(inputs: int, outputs: int, size: Size) -> Counts:
    reading, inner = (counting.relu_conv_bn(before, outputs, 3, size) for before in (inputs, outputs))
    cell = counting.repeat(reading, 2) + counting.repeat(inner, 3)
    if inputs == outputs:
        return cell
    return cell + counting.conv2d(inputs, outputs, 1, size) + counting.norm(outputs)


@lru_cache(maxsize=4096)
def _count_block(inputs: int, outputs: int, size: Size, reduces: bool) -> Counts:
    """One block; `size` is that of its output."""
    return counting.reduction(inputs, outputs, size) if reduces else _count_cell(inputs, outputs, size)


@spaces.register("nats_size")
class NATSSize(Space[Architecture]):
    """The size space of NATS-Bench.

    Args:
        step: widths are 1 to 8 times this; the benchmark has 8, so 8, 16, ..., 64.
        sampling: `uniform`: a mutation takes another width for one block. `published`: it draws the width of one block
            anew, which may be the same.
    """

    name = "nats_size"
    summary = "one fixed cell, 5 widths of 8 to 64 channels: 32,768 image networks"
    source = "NATS-Bench (Dong et al., TPAMI 2021), size space"

    def __init__(self, *, step: int = 8, sampling: str = "uniform") -> None:
        if not isinstance(step, int) or isinstance(step, bool) or step < 1:
            raise InputError(f"space {self.name}: step {step!r}, expected a whole number of at least 1")
        if sampling not in SAMPLINGS:
            raise UnknownNameError(f"sampling of space {self.name}", str(sampling), SAMPLINGS)
        self.step, self.sampling = step, sampling

    @property
    def widths(self) -> tuple[int, ...]:
        """The candidates for each block, ascending."""
        return tuple(self.step * times for times in range(1, CANDIDATES + 1))

    def settings(self) -> dict[str, Any]:
        """Settings that differ from the benchmark's."""
        return {key: getattr(self, key) for key, default in _SETTINGS.items() if getattr(self, key) != default}

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> Architecture:
        """Each width uniformly."""
        return Architecture(tuple(rng.choices(self.widths, k=LAYERS)))

    def mutate(self, architecture: Architecture, rng: random.Random) -> Architecture:
        """A block uniformly, then a width, as the setting `sampling` says."""
        channels, place = list(architecture.channels), rng.randrange(LAYERS)
        same = self.sampling == "published"
        channels[place] = rng.choice([width for width in self.widths if same or width != channels[place]])
        return Architecture(tuple(channels))

    def crossover(self, first: Architecture, second: Architecture, rng: random.Random) -> Architecture:
        """Each width from either parent."""
        return Architecture(tuple(map(rng.choice, zip(first.channels, second.channels, strict=True))))

    def parse(self, text: str) -> Architecture:
        """Read the benchmark's text; the error names the block that is wrong."""
        parts = text.strip().split(":")
        if len(parts) != LAYERS:
            raise InputError(
                f"widths {text!r}: {len(parts)} blocks, expected {LAYERS} joined by :, such as 8:16:32:48:64"
            )
        allowed = [str(width) for width in self.widths]
        for number, part in enumerate(parts, 1):
            if part not in allowed:
                raise InputError(f"widths {text!r}, block {number}: {part!r}, expected one of {', '.join(allowed)}")
        return Architecture(tuple(map(int, parts)))

    @property
    def size(self) -> int:
        """Eight widths for five blocks: 32,768."""
        return 8**5

    def enumerate(self) -> Iterator[Architecture]:
        """All of them, the last block changing fastest, which is the benchmark's own order."""
        return map(Architecture, itertools.product(self.widths, repeat=LAYERS))

    # -- one architecture ---------------------------------------------------------------------------------------------
    def build(self, architecture: Architecture, task: Task) -> Network:
        """The network for images of any size and number of channels."""
        return Network(architecture, task)

    def counts(self, architecture: Architecture, task: Task) -> Counts:
        """Exact, by formula."""
        inputs, *shape = image_shape(task, self.name)
        size, first, last = (shape[0], shape[1]), architecture.channels[0], architecture.channels[-1]
        total = counting.conv2d(inputs, first, 3, size) + counting.norm(first)
        for before, after, reduces in blocks(architecture):
            size = counting.strided(size) if reduces else size
            total += _count_block(before, after, size, reduces)
        return total + counting.norm(last) + counting.linear(last, task.outputs)

    def benchmark_flops(self, architecture: Architecture, task: Task) -> int:
        """The number the benchmark's tables call FLOPs: the MACs, and one more for each bias of the classifier.

        It is not `counts(...).flops`, which is two per MAC.
        """
        return self.counts(architecture, task).macs + task.outputs

    def graph(self, architecture: Architecture) -> list[Graph]:
        """The chain of blocks with their widths."""
        nodes = [f"stem, {architecture.channels[0]}"]
        nodes += [f"{'reduction' if reduces else 'cell'}, {after}" for _, after, reduces in blocks(architecture)]
        return [Graph(tuple(nodes), tuple((place, place + 1, "") for place in range(LAYERS)), title="widths")]

    def one_shot(self, task: Task, **options: Any) -> NATSSizeOneShot:
        """All widths in the weights of the greatest; no options."""
        from foresee.spaces.nats_size_one_shot import NATSSizeOneShot

        return NATSSizeOneShot(task, self, **options)

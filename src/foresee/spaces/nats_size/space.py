"""The size space of NATS-Bench."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

from foresee.checks import whole
from foresee.errors import InputError, UnknownNameError
from foresee.spaces.base import Graph, Space, spaces
from foresee.spaces.counting import Counts
from foresee.spaces.nats_size import counts
from foresee.spaces.nats_size.architecture import LAYERS, Architecture, blocks
from foresee.spaces.nats_size.network import Network
from foresee.spaces.nats_size.one_shot import NATSSizeOneShot
from foresee.spaces.one_shot import Choice
from foresee.task import Task

CANDIDATES = 8
SAMPLINGS = ("uniform", "published")


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
        whole("step", step, of=f"space {self.name}")
        if sampling not in SAMPLINGS:
            raise UnknownNameError(f"sampling of space {self.name}", str(sampling), SAMPLINGS)
        self.step, self.sampling = step, sampling

    @property
    def widths(self) -> tuple[int, ...]:
        """The candidates for each block, ascending."""
        return tuple(self.step * times for times in range(1, CANDIDATES + 1))

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

    # -- choices --------------------------------------------------------------------------------------------------------
    @property
    def choices(self) -> tuple[Choice, ...]:
        """The width of each block."""
        return tuple(Choice(f"c{number}", tuple(map(str, self.widths))) for number in range(1, LAYERS + 1))

    def assemble(self, picks: Sequence[int]) -> Architecture:
        """The network of these widths."""
        return Architecture(tuple(self.widths[pick] for pick in picks))

    def picks(self, architecture: Architecture) -> tuple[int, ...]:
        """The places of its widths."""
        return tuple(map(self.widths.index, architecture.channels))

    # -- one architecture ---------------------------------------------------------------------------------------------
    def build(self, architecture: Architecture, task: Task) -> Network:
        """The network for images of any size and number of channels."""
        return Network(architecture, task)

    def counts(self, architecture: Architecture, task: Task) -> Counts:
        """Exact, by formula."""
        return counts.network(architecture, task)

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
        return NATSSizeOneShot(task, self.widths, **options)

"""The two spaces of super-blocks: MobileNetV2-like for ImageNet, ResNet-like for CIFAR.

They have no list of members: they are all that mutations reach from an initial network within a limit on the depth.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar

from foresee.checks import whole
from foresee.errors import InputError, UnknownNameError
from foresee.spaces.base import Graph, Space, spaces
from foresee.spaces.counting import Counts
from foresee.spaces.plainnet import counts
from foresee.spaces.plainnet.architecture import (
    BASIC,
    BOTTLENECK,
    CONVS,
    INVERTED,
    LAST,
    STEM,
    Architecture,
    Block,
    chained,
    parse,
    rounded,
)
from foresee.spaces.plainnet.network import Form, Network
from foresee.task import Task

SAMPLINGS = ("uniform", "published")
#: what a mutation multiplies channels by
FACTORS = (2.5, 2, 1.5, 1.25, 1, 1 / 1.25, 1 / 1.5, 1 / 2, 1 / 2.5)
#: a block of so many layers is split, and how many layers its first part has
SPLIT, FIRST = 6, 3


@lru_cache(maxsize=4096)
def widths(channels: int, most: int | None) -> tuple[int, ...]:
    """What a mutation may make of a number of channels, ascending.

    >>> widths(16, None)
    (8, 16, 24, 32, 40)
    """
    made = {rounded(channels * factor) for factor in FACTORS}
    return tuple(sorted(made if most is None else {min(width, most) for width in made}))


class PlainNet(Space[Architecture]):
    """What both spaces share. A sample is a random walk of mutations from the initial network.

    A mutation draws one super-block anew: its type, its channels and those of its bottleneck (the present ones times 0.4 to
    2.5, in multiples of 8) and its layers (up to 2 more or fewer); of a convolution only the channels. Its stride stays.
    The next block reads what it gives; a block of 6 or more layers is split in two. Mutations stay within `max_layers`, or
    within the parent's depth where that is greater.

    The text names the channels of the images, 3; a network is built for those of its task.

    Args:
        initial: text of the network all walks start from.
        max_layers: limit on the layers of all super-blocks together, stem and last convolution included.
        walk: mutations of a sample.
        sampling: `uniform` draws each part of a block uniformly, among the blocks that can change, until it differs.
            `published` as the public code: types early in its list are likelier, and all may stay as it was.
        residual: whether units are bridged. ZenNAS and ZiCo score networks without.
    """

    source = "ZenNAS (Lin et al., ICCV 2021); searched by ZiCo and AZ-NAS"
    #: types of residual blocks, and how likely each is by the published code
    kinds: ClassVar[tuple[str, ...]]
    published: ClassVar[tuple[int, ...]]
    #: greatest number of channels
    most: ClassVar[int | None] = None
    #: whether the last convolution can change
    last_changes: ClassVar[bool]
    _named: ClassVar[Mapping[str, str]]
    start: Architecture

    @abstractmethod
    def __init__(self) -> None:
        raise NotImplementedError

    def _set(self, initial: str, max_layers: int, walk: int, sampling: str, form: Form) -> None:
        for key, value, least in (("max_layers", max_layers, 1), ("walk", walk, 0)):
            whole(key, value, least, of=f"space {self.name}")
        if sampling not in SAMPLINGS:
            raise UnknownNameError(f"sampling of space {self.name}", str(sampling), SAMPLINGS)
        self.start = self.parse(initial)
        if self.start.layers > max_layers:
            raise InputError(
                f"space {self.name}: the initial network has {self.start.layers} layers, max_layers is {max_layers}"
            )
        self.initial, self.max_layers, self.walk, self.sampling = initial, max_layers, walk, sampling
        self.form, self.residual, self.squeeze_excite = form, form.residual, form.squeeze_excite

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> Architecture:
        """As many mutations in a row as `walk` says."""
        architecture = self.start
        for _ in range(self.walk):
            architecture = self.mutate(architecture, rng)
        return architecture

    def mutate(self, architecture: Architecture, rng: random.Random) -> Architecture:
        """One super-block drawn anew; as `sampling` says it differs always or may stay as it was."""
        blocks = architecture.blocks
        free = self.sampling == "published"
        places = range(len(blocks)) if free or self.last_changes else range(len(blocks) - 1)
        if not places:
            raise InputError(f"{architecture}: it has no block that can change")
        limit = max(self.max_layers, architecture.layers)
        while True:
            place = rng.choice(places)
            drawn = self._drawn(blocks, place, rng)
            if drawn == blocks[place] and not free:
                continue
            if architecture.layers + drawn.layers - blocks[place].layers <= limit:
                return chained((*blocks[:place], *split(drawn), *blocks[place + 1 :]))

    def _drawn(self, blocks: Sequence[Block], place: int, rng: random.Random) -> Block:
        block = blocks[place]
        if place == len(blocks) - 1 and block.kind in CONVS and not self.last_changes:
            return block
        outputs = rng.choice(widths(block.outputs, self.most))
        if block.kind in CONVS:
            return replace(block, outputs=outputs)
        kind = rng.choices(self.kinds, self.published if self.sampling == "published" else None)[0]
        bottleneck = rng.choice(widths(block.bottleneck, self.most))
        layers = rng.randint(max(1, block.layers - 2), block.layers + 2)
        return Block(kind, block.inputs, outputs, block.stride, bottleneck, layers)

    def parse(self, text: str) -> Architecture:
        """Read a PlainNet string of this space's types: a K3 convolution first, a K1 convolution last."""
        architecture = parse(text, (*CONVS, *self.kinds))
        ends = (architecture.blocks[0].kind, architecture.blocks[-1].kind)
        if ends != (STEM, LAST):
            raise InputError(f"architecture from {ends[0]} to {ends[1]}: expected {STEM} first and {LAST} last")
        return architecture

    def contains(self, architecture: Architecture) -> bool:
        """Whether mutations could lead there: ends in place, channels in multiples of 8, no block to split, not too deep."""
        if len(architecture.blocks) < 2:
            return False
        first, *middle, last = architecture.blocks
        return (
            (first.kind, last.kind) == (STEM, LAST)
            and all(block.kind in self.kinds and block.layers < SPLIT for block in middle)
            and all(n % 8 == 0 for block in architecture.blocks for n in (block.outputs, block.bottleneck))
            and (self.last_changes or last.outputs == self.start.blocks[-1].outputs)
            and architecture.layers <= self.max_layers
        )

    @property
    def named(self) -> Mapping[str, Architecture]:
        """Published networks and the initial one."""
        return {name: self.parse(text) for name, text in self._named.items()}

    # -- one architecture ---------------------------------------------------------------------------------------------
    def build(self, architecture: Architecture, task: Task) -> Network:
        """The network for images of any size and number of channels."""
        return Network(architecture, task, self.form)

    def counts(self, architecture: Architecture, task: Task) -> Counts:
        """Exact, by formula, of the network as the settings build it."""
        return counts.count(architecture, task, self.form)

    def benchmark_size(self, architecture: Architecture, task: Task) -> int:
        """The public code's `get_model_size`, in which some parameters are missing; `counts` has the exact number."""
        return counts.benchmark(architecture, task).size

    def benchmark_flops(self, architecture: Architecture, task: Task) -> float:
        """The public code's `get_FLOPs`: multiply-accumulates, roughly; `counts` has the exact number."""
        return counts.benchmark(architecture, task).flops

    def graph(self, architecture: Architecture) -> list[Graph]:
        """The super-blocks in a row, edges labelled with the channels between them."""
        kinds = [f"{block.kind.removeprefix('Super')} x{block.layers}" for block in architecture.blocks]
        nodes = ("image", *kinds, "mean")
        labels = ("", *(str(block.outputs) for block in architecture.blocks))
        edges = tuple((place, place + 1, label) for place, label in enumerate(labels))
        return [Graph(nodes, edges, title=f"{architecture.layers} layers")]


def split(block: Block) -> tuple[Block, ...]:
    """A block of many layers as two.

    >>> [str(part) for part in split(Block("SuperResK3K3", 8, 16, 2, 8, 7))]
    ['SuperResK3K3(8,16,2,8,3)', 'SuperResK3K3(16,16,1,8,4)']
    """
    if block.layers < SPLIT:
        return (block,)
    rest = replace(block, inputs=block.outputs, stride=1, layers=block.layers - FIRST)
    return replace(block, layers=FIRST), rest


_MOBILE = (
    "SuperConvK3BNRELU(3,8,2,1)SuperResIDWE6K3(8,32,2,8,1)SuperResIDWE6K3(32,48,2,32,1)"
    "SuperResIDWE6K3(48,96,2,48,1)SuperResIDWE6K3(96,128,2,96,1)SuperConvK1BNRELU(128,2048,1,1)"
)
_CIFAR = (
    "SuperConvK3BNRELU(3,8,1,1)SuperResK3K3(8,16,1,8,1)SuperResK3K3(16,32,2,16,1)"
    "SuperResK3K3(32,64,2,32,1)SuperResK3K3(64,64,2,32,1)SuperConvK1BNRELU(64,128,1,1)"
)


@spaces.register("mobilenet")
class MobileNet(PlainNet):
    """MobileNetV2-like networks: inverted bottlenecks with depthwise convolutions. The last convolution stays.

    The settings are those of `PlainNet` and:

    Args:
        initial: text of the network all walks start from.
        max_layers: limit on the layers of all super-blocks together; ZiCo-1G was found with a greater one.
        walk: mutations of a sample.
        sampling: `uniform` or `published`.
        residual: whether units are bridged.
        squeeze_excite: whether channels are re-weighted after each depthwise convolution, as in final training.
    """

    name = "mobilenet"
    summary = "MobileNetV2-like super-blocks, 12 types, free widths and depths: unbounded image networks"
    kinds = INVERTED
    published = tuple(range(12, 0, -1))
    last_changes = False
    _named: ClassVar[Mapping[str, str]] = {
        "initial": _MOBILE,
        "ZiCo_450M": "SuperConvK3BNRELU(3,16,2,1)SuperResIDWE1K7(16,40,2,40,1)SuperResIDWE2K7(40,80,2,64,1)"
        "SuperResIDWE4K7(80,96,2,96,5)SuperResIDWE2K7(96,224,2,224,5)SuperConvK1BNRELU(224,2048,1,1)",
        "ZiCo_600M": "SuperConvK3BNRELU(3,24,2,1)SuperResIDWE1K7(24,48,2,48,1)SuperResIDWE2K7(48,72,2,72,1)"
        "SuperResIDWE6K5(72,160,2,96,1)SuperResIDWE6K7(160,200,2,112,5)SuperResIDWE6K7(200,168,1,168,4)"
        "SuperConvK1BNRELU(168,2048,1,1)",
        "ZiCo_1G": "SuperConvK3BNRELU(3,48,2,1)SuperResIDWE1K7(48,48,2,72,1)SuperResIDWE1K7(48,80,2,128,1)"
        "SuperResIDWE2K7(80,160,2,144,3)SuperResIDWE4K7(160,288,2,232,4)SuperResIDWE6K5(288,232,1,208,5)"
        "SuperConvK1BNRELU(232,2048,1,1)",
    }

    def __init__(
        self,
        *,
        initial: str = _MOBILE,
        max_layers: int = 14,
        walk: int = 8,
        sampling: str = "uniform",
        residual: bool = True,
        squeeze_excite: bool = False,
    ) -> None:
        self._set(initial, max_layers, walk, sampling, Form(residual, squeeze_excite))


@spaces.register("resnet")
class ResNet(PlainNet):
    """ResNet-like networks: residual units of two convolutions, or bottlenecks. At most 2,048 channels.

    The settings are those of `PlainNet`.
    """

    name = "resnet"
    summary = "ResNet-like super-blocks, 6 types, free widths and depths: unbounded image networks"
    kinds = (*BASIC, *BOTTLENECK)
    published = (3, 2, 1, 3, 2, 1)
    most = 2048
    last_changes = True
    _named: ClassVar[Mapping[str, str]] = {
        "initial": _CIFAR,
        "ZenNet_CIFAR_1M": "SuperConvK3BNRELU(3,88,1,1)SuperResK1K7K1(88,120,1,16,1)SuperResK1K7K1(120,192,2,16,3)"
        "SuperResK1K5K1(192,224,1,24,4)SuperResK1K5K1(224,96,2,24,2)SuperResK1K3K1(96,168,2,40,3)"
        "SuperResK1K3K1(168,112,1,48,3)SuperConvK1BNRELU(112,512,1,1)",
    }

    def __init__(
        self,
        *,
        initial: str = _CIFAR,
        max_layers: int = 18,
        walk: int = 8,
        sampling: str = "uniform",
        residual: bool = True,
    ) -> None:
        self._set(initial, max_layers, walk, sampling, Form(residual))

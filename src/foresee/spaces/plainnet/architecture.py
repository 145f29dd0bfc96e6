"""PlainNet strings: super-blocks one after another, `Type(inputs,outputs,stride,bottleneck,layers)`.

Types, with E an expansion (1, 2, 4, 6) and K a kernel (3, 5, 7):

- `SuperConvK3BNRELU(inputs,outputs,stride,layers)`, also with K1: convolutions; the stem and the last block.
- `SuperResK3K3`: residual units of two 3x3 convolutions; also K5K5, K7K7.
- `SuperResK1K3K1`: a layer is two bottleneck units (1x1, 3x3, 1x1); also with K5, K7 in the middle.
- `SuperResIDWE6K3`: a layer is two inverted bottlenecks with a depthwise convolution, the first to the bottleneck's width.

>>> one = parse("SuperConvK3BNRELU(3,8,2,1)SuperResIDWE6K3(8,32,2,8,2)SuperConvK1BNRELU(32,64,1,1)")
>>> one.layers, one.blocks[1].kind
(4, 'SuperResIDWE6K3')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from foresee.errors import InputError, UnknownNameError

STEM, LAST = "SuperConvK3BNRELU", "SuperConvK1BNRELU"
CONVS = (STEM, LAST)
KERNELS, EXPANSIONS = (3, 5, 7), (1, 2, 4, 6)
#: in the published order
INVERTED = tuple(f"SuperResIDWE{e}K{k}" for k in KERNELS for e in EXPANSIONS)
BASIC = tuple(f"SuperResK{k}K{k}" for k in KERNELS)
BOTTLENECK = tuple(f"SuperResK1K{k}K1" for k in KERNELS)
KINDS = frozenset((*CONVS, *INVERTED, *BASIC, *BOTTLENECK))

_BLOCK = re.compile(r"\s*([^(]*)\(([^()]*)\)")


class Conv(NamedTuple):
    """A convolution with its batch norm."""

    inputs: int
    outputs: int
    kernel: int
    stride: int = 1
    groups: int = 1


class Unit(NamedTuple):
    """Convolutions in a row; a residual one is bridged, by a 1x1 convolution where `projected`."""

    convs: tuple[Conv, ...]
    residual: bool = True
    projected: bool = False

    @property
    def projection(self) -> Conv:
        """The convolution of the bridge."""
        stride = max(conv.stride for conv in self.convs)
        return Conv(self.convs[0].inputs, self.convs[-1].outputs, 1, stride)


@dataclass(frozen=True)
class Block:
    """A super-block; `bottleneck` is 0 for plain convolutions."""

    kind: str
    inputs: int
    outputs: int
    stride: int
    bottleneck: int
    layers: int

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownNameError("block type", self.kind, KINDS)
        numbers = {
            "inputs": self.inputs,
            "outputs": self.outputs,
            "stride": self.stride,
            "layers": self.layers,
        }
        if self.kind not in CONVS:
            numbers["bottleneck"] = self.bottleneck
        for what, value in numbers.items():
            if value < 1:
                raise InputError(f"{self.kind}: {what} {value}, expected at least 1")

    def __str__(self) -> str:
        middle = "" if self.kind in CONVS else f"{self.bottleneck},"
        return f"{self.kind}({self.inputs},{self.outputs},{self.stride},{middle}{self.layers})"


@dataclass(frozen=True)
class Architecture:
    """Super-blocks in order, each reading what the one before gives. Its `str` is the PlainNet string."""

    blocks: tuple[Block, ...]

    def __post_init__(self) -> None:
        if not self.blocks:
            raise InputError("no blocks: expected at least one")
        for number, (one, two) in enumerate(pairwise(self.blocks), 1):
            if one.outputs != two.inputs:
                raise InputError(
                    f"block {number}, {two}: reads {two.inputs} channels, but block {number - 1} gives {one.outputs}"
                )

    @property
    def layers(self) -> int:
        """Depth as the published limit counts it: the layers of all super-blocks, stem and last convolution included."""
        return sum(block.layers for block in self.blocks)

    def __str__(self) -> str:
        return "".join(map(str, self.blocks))


def chained(blocks: Iterable[Block]) -> Architecture:
    """The architecture of these blocks, each made to read what the one before gives."""
    chain: list[Block] = []
    for block in blocks:
        if chain and block.inputs != chain[-1].outputs:
            block = replace(block, inputs=chain[-1].outputs)
        chain.append(block)
    return Architecture(tuple(chain))


def parse(text: str, kinds: Sequence[str] = tuple(sorted(KINDS))) -> Architecture:
    """Inverse of `str`; the error names the block, counted from 0, and what is wrong with it."""
    blocks: list[Block] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        found = _BLOCK.match(text, place)
        if not found:
            raise InputError(
                f"block {len(blocks)}: {text[place:].strip()!r} is no block; expected such as SuperResK3K3(8,16,1,8,1)"
            )
        blocks.append(_parse_block(len(blocks), found[1].strip(), found[2], kinds))
        place = found.end()
    if not blocks:
        raise InputError(f"architecture {text!r}: no blocks; expected such as SuperConvK3BNRELU(3,8,1,1)")
    return Architecture(tuple(blocks))


def _parse_block(number: int, kind: str, inner: str, kinds: Sequence[str]) -> Block:
    if kind not in kinds:
        raise UnknownNameError(f"type of block {number}", kind, kinds)
    names = ("inputs", "outputs", "stride", *(() if kind in CONVS else ("bottleneck",)), "layers")
    texts = inner.split(",")
    if len(texts) != len(names):
        raise InputError(f"block {number}, {kind}: {len(texts)} numbers, expected {len(names)}: {', '.join(names)}")
    values = {"bottleneck": 0}
    for name, given in zip(names, texts, strict=True):
        if not given.strip().isdecimal() or len(given) > 9 or int(given) < 1:
            raise InputError(f"block {number}, {kind}: {name} {given.strip()!r}, expected a whole number of at least 1")
        values[name] = int(given)
    return Block(kind, **values)


# -- what a block is made of --------------------------------------------------------------------------------------------
@lru_cache(maxsize=4096)
def units(block: Block) -> tuple[Unit, ...]:
    """The residual units of a block, or its convolutions one by one."""
    made: list[Unit] = []
    inputs = block.inputs
    for layer in range(block.layers):
        made += _layer(block, inputs, block.stride if layer == 0 else 1)
        inputs = block.outputs
    first = made[0]  # bridged by a convolution even where the shape stays
    return (first._replace(projected=first.residual), *made[1:])


def _layer(block: Block, inputs: int, stride: int) -> Iterator[Unit]:
    kernel = int(block.kind.removesuffix("K1").rpartition("K")[2].removesuffix("BNRELU"))
    width, outputs = block.bottleneck, block.outputs
    if block.kind in CONVS:
        yield Unit((Conv(inputs, outputs, kernel, stride),), residual=False)
    elif block.kind in BASIC:
        yield _residual(Conv(inputs, width, kernel, stride), Conv(width, outputs, kernel))
    elif block.kind in BOTTLENECK:
        for source, step in ((inputs, stride), (outputs, 1)):
            yield _residual(Conv(source, width, 1), Conv(width, width, kernel, step), Conv(width, outputs, 1))
    else:
        expansion = int(block.kind.partition("IDWE")[2][0])
        for source, target, step in ((inputs, width, stride), (width, outputs, 1)):
            hidden = rounded(expansion * target)
            deep = Conv(hidden, hidden, kernel, step, groups=hidden)
            yield _residual(Conv(source, hidden, 1), deep, Conv(hidden, target, 1))


def _residual(*convs: Conv) -> Unit:
    changed = convs[0].inputs != convs[-1].outputs or any(conv.stride > 1 for conv in convs)
    return Unit(convs, projected=changed)


def rounded(width: float) -> int:
    """The nearest multiple of 8, at least 8.

    >>> rounded(3), rounded(27)
    (8, 24)
    """
    return max(8, round(width / 8) * 8)

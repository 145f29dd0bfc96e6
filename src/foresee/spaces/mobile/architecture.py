"""A mobile network's architecture: for each stage its layers, each an expansion, a kernel and perhaps a gate.

The text has a part for each stage, joined by colons: `e6k5sx3` is three layers of expansion 6 and kernel 5 with
squeeze-and-excitation; layers that differ are joined by +.

>>> one = parse("e6k3x2:e3k5s+e4k5sx2")
>>> [len(stage) for stage in one.stages], one.stages[1][0]
([2, 3], Layer(expansion=3.0, kernel=5, squeeze=True))
>>> str(one)
'e6k3x2:e3k5s+e4k5sx2'
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import NamedTuple

from foresee.errors import InputError

_EXAMPLE = "e6k3x2:e3k5sx3: two layers of expansion 6 and kernel 3, then three of 3 and 5 with squeeze-and-excitation"
_RUN = re.compile(r"e(\d{1,4}(?:\.\d{1,4})?)k(\d{1,3})(s?)(?:x(\d{1,3}))?")


class Layer(NamedTuple):
    """One inverted bottleneck: the factor it widens by, the side of its kernel, whether channels are re-weighted."""

    expansion: float
    kernel: int
    squeeze: bool = False

    def __str__(self) -> str:
        return f"e{self.expansion:.6g}k{self.kernel}{'s' if self.squeeze else ''}"


Stage = tuple[Layer, ...]


@dataclass(frozen=True)
class Architecture:
    """The layers of each stage."""

    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        if not self.stages or not all(self.stages):
            raise InputError("mobile network: every stage needs at least one layer")

    def __str__(self) -> str:
        return ":".join("+".join(text for text, _, _ in runs(stage)) for stage in self.stages)


def runs(stage: Stage) -> list[tuple[str, Layer, int]]:
    """Equal layers one after the other: their text, the layer, and how many there are."""
    found = []
    for layer, group in itertools.groupby(stage):
        count = len(list(group))
        found.append((f"{layer}x{count}" if count > 1 else str(layer), layer, count))
    return found


def parse(text: str) -> Architecture:
    """Inverse of `str`; the error names the stage that is wrong."""
    stages = []
    for number, part in enumerate(text.strip().split(":"), 1):
        layers: list[Layer] = []
        for run in part.split("+"):
            match = _RUN.fullmatch(run.strip())
            count = int(match[4] or 1) if match else 0
            if match is None or count < 1:
                raise InputError(f"network {text[:80]!r}, stage {number}: {run[:40]!r}, expected such as {_EXAMPLE}")
            layers += [Layer(float(match[1]), int(match[2]), bool(match[3]))] * count
        stages.append(tuple(layers))
    return Architecture(tuple(stages))

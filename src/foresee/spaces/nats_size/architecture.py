"""Five widths, and the blocks they are of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from foresee.errors import InputError

LAYERS = 5
REDUCTIONS = (1, 3)


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

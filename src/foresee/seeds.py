"""Seeds decide everything: one integer per run, and from it a stream for each use.

A stream depends on the seed and on what it is for, never on how many numbers another stream has drawn; so results do not
depend on order, number of workers, or interruptions.
"""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def derive(seed: int, *use: int | str) -> int:
    """A 63-bit seed for one use of `seed`, e.g. `derive(seed, "ask", 17)`.

    >>> derive(0, "ask", 1) == derive(0, "ask", 1), derive(0, "ask", 1) == derive(0, "ask", 2)
    (True, False)
    """
    text = repr((int(seed), *use)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 1


def stream(seed: int, *use: int | str) -> random.Random:
    """Python random numbers for one use: choices in a space."""
    return random.Random(derive(seed, *use))


def generator(seed: int, *use: int | str) -> torch.Generator:
    """Torch random numbers for one use, on the CPU whatever the device, so that every device sees the same draws."""
    import torch

    return torch.Generator().manual_seed(derive(seed, *use))

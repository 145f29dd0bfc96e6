"""Seeds decide everything: one integer per run, and from it a stream for each use.

A stream depends on the seed and on what it is for, never on how many numbers another stream has drawn; so results do not
depend on order, number of workers, or interruptions.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def random_states_kept(seed: int) -> Iterator[None]:
    """Python, numpy and torch count from `seed` inside and go on as if nothing had happened afterwards."""
    import numpy as np
    import torch

    states = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else None  # type: ignore[no-untyped-call]
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    # torch.manual_seed would also leave a seed behind for a CUDA that is not started yet.
    torch.default_generator.manual_seed(seed)
    if cuda is not None:
        torch.cuda.manual_seed_all(seed)
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
        torch.set_rng_state(states[2])
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)

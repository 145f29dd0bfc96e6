"""Fresh inputs, and how far two programs are apart on them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.data.synthetic import Synthetic
from foresee.errors import UnsupportedError
from foresee.seeds import generator
from foresee.task import Task

#: samples of the batches that are compared: one and several, none the one that a program was traced with
SIZES = (1, 2, 5)

Program = Callable[[Batch], Tensor]


def fresh(task: Task | None, example: Batch, size: int, *, pixels: bool, seed: int) -> Batch:
    """`size` samples that nothing was made with: noise as the task has it, or like the example's.

    Of whole numbers that no task bounds, rows of the example are drawn: other values might have no meaning.
    """
    draws = generator(seed, "export", size)
    if task is not None and example.names is None:
        batch = Synthetic(task).batch(size, seed=seed, index=size)
    else:
        rows = torch.randint(len(example), (size,), generator=draws)
        batch = Batch(example.inputs)[rows]
        parts = (
            torch.randn(part.shape, generator=draws).to(part.dtype) if part.is_floating_point() else part
            for part in batch.parts
        )
        batch = batch.rebuilt(parts, None)
    if pixels:
        first, *others = batch.parts
        batch = batch.rebuilt((torch.rand(first.shape, generator=draws), *others), None)
    return batch.rebuilt(batch.parts, None)


def compared(name: str, truth: Program, other: Program, batches: list[Batch], tolerance: float) -> tuple[float, float]:
    """The largest difference of any output, and the largest that is allowed: `tolerance` times the largest output (or 1).

    What is further apart, of another shape or not finite where the other is, is refused.
    """
    worst, allowed = 0.0, 0.0
    for batch in batches:
        expected, found = truth(batch), other(batch)
        if found.shape != expected.shape:
            raise UnsupportedError(
                f"{name}: of {len(batch)} samples it gives {tuple(found.shape)}, the network {tuple(expected.shape)}"
            )
        limit = tolerance * max(1.0, float(expected.abs().max()))
        difference = float((found.double() - expected.double()).abs().max())
        if not difference <= limit:  # also where it is not a number
            raise UnsupportedError(
                f"{name}: its outputs are {difference:.3g} away from the network's on {len(batch)} samples; {limit:.3g} is "
                "allowed"
            )
        worst, allowed = max(worst, difference), max(allowed, limit)
    return worst, allowed

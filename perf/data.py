"""A hundred batches of a large data set: one order per lap against one per batch, in one run.

    python -m perf data

The plain way draws the whole permutation for every batch and keeps a slice of it. Both ways are timed in turn, so that
other load on the machine meets both, and must give the same samples. Beside them, a whole epoch for training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor

from foresee.data import Arrays, Data
from foresee.seeds import generator
from perf.harness import How, Row

SECONDS = 30


def by_the_order_of_the_lap(data: Data, count: int, size: int) -> list[Tensor]:
    return [data.batch(size, seed=1, index=index).parts[0] for index in range(count)]


def by_one_permutation_each(data: Data, count: int, size: int) -> list[Tensor]:
    found = []
    for index in range(count):
        lap, position = divmod(index, len(data) // size)
        order = torch.randperm(len(data), generator=generator(1, "data", lap))
        rows = order[position * size : (position + 1) * size]
        found.append(data.normalised(data.read(rows)).parts[0])
    return found


def measure(how: How) -> Iterator[Row]:
    """Both ways on a million rows, and the same samples."""
    rows, count, size = (2000, 5, 32) if how.quick else (1_000_000, 50, 128)
    table = np.random.default_rng(0).normal(size=(rows, 16)).astype(np.float32)
    labels = np.arange(rows) % 2

    def fresh(way: Callable[[Data, int, int], list[Tensor]]) -> Tensor:
        data = Arrays(table, labels)  # a new one: nothing is remembered from the turn before
        _ = data.statistics
        return torch.cat(way(data, count, size))

    ways = {"lap": by_the_order_of_the_lap, "plain": by_one_permutation_each}
    times = how.compare({name: partial(fresh, way) for name, way in ways.items()}, repeats=1 if how.quick else 3)
    how.check(torch.equal(times["lap"].result, times["plain"].result), "the two ways give other samples")
    found = times["lap"]
    yield Row(
        f"{count} batches of {size} of {rows:,} rows",
        found.middle,
        times["plain"].middle,
        "a permutation for each batch",
        0.5,
        low=found.low,
        high=found.high,
    )

"""A hundred batches of a large data set: one order per lap against one per batch, in one run.

    python perf/data.py [--rows 1000000] [--batches 100] [--size 128] [--repeats 3] [--threads 1]

The plain way draws the whole permutation for every batch and keeps a slice of it. Both ways are timed in turn, so that
other load on the machine meets both, and must give the same samples. Beside them, a whole epoch for training.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import torch
from torch import Tensor

from foresee.data import Arrays, Data
from foresee.seeds import generator


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


def timed(way: Callable[..., list[Tensor]], *args: object) -> tuple[float, Tensor]:
    start = time.perf_counter()
    found = way(*args)
    return time.perf_counter() - start, torch.cat(found)


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--batches", type=int, default=100)
    options.add_argument("--size", type=int, default=128)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--threads", type=int, default=1)
    chosen = options.parse_args()
    torch.set_num_threads(chosen.threads)

    table = np.random.default_rng(0).normal(size=(chosen.rows, 16)).astype(np.float32)
    labels = np.arange(chosen.rows) % 2
    Arrays(table[:1000], labels[:1000]).batch(10)  # libraries load

    ways = {"one order per lap": by_the_order_of_the_lap, "one order per batch": by_one_permutation_each}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    samples: dict[str, Tensor] = {}
    for _ in range(chosen.repeats):
        for name, way in ways.items():
            data = Arrays(table, labels)  # a new one: nothing is remembered from the turn before
            _ = data.statistics
            spent, samples[name] = timed(way, data, chosen.batches, chosen.size)
            seconds[name].append(spent)

    for name in ways:
        low, high = min(seconds[name]), max(seconds[name])
        print(
            f"{name:>22}: {chosen.batches} batches of {chosen.rows} rows in {median(seconds[name]):.3f} s "
            f"({low:.3f} to {high:.3f})"
        )
    fast, slow = (median(seconds[name]) for name in ways)
    print(f"{'ratio':>22}: {slow / fast:.1f} times faster")
    start = time.perf_counter()
    count = sum(len(batch) for batch in data.epoch(8 * chosen.size, seed=1))
    print(f"{'an epoch':>22}: {count} rows in batches of {8 * chosen.size} in {time.perf_counter() - start:.3f} s")
    first, second = samples.values()
    if not torch.equal(first, second):
        raise SystemExit("the two ways disagree")


if __name__ == "__main__":
    main()

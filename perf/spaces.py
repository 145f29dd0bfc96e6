"""Every registered space: sampling, mutating, identity and counting, in milliseconds (median of 200 after a warm-up).

The targets are 1 ms for sampling and mutating and 5 ms for counting one architecture.
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch

from foresee.seeds import stream
from foresee.spaces import spaces
from foresee.task import Task


def median_ms(action, arguments) -> float:
    seconds = []
    for argument in arguments:
        start = time.perf_counter()
        action(argument)
        seconds.append(time.perf_counter() - start)
    return 1e3 * statistics.median(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    count = parser.parse_args().count
    torch.set_num_threads(1)
    print(f"{'space':22} {'sample':>8} {'mutate':>8} {'identity':>8} {'count':>8}   ms, median of {count}")
    worst = {"sample": 0.0, "mutate": 0.0, "count": 0.0}
    for name in spaces.names():
        space = spaces[name]()
        task = Task((13,), 1, vocabularies=(100,) * 26) if name.startswith("nasrec") else Task((3, 224, 224), 10)
        if not name.startswith(("autoformer", "nasrec")):
            task = Task((3, 32, 32), 10)
        rng = stream(0, "perf")
        space.sample(rng)
        drawn = [space.sample(rng) for _ in range(count)]
        row = {
            "sample": median_ms(lambda _: space.sample(rng), drawn),
            "mutate": median_ms(lambda one: space.mutate(one, rng), drawn),
            "identity": median_ms(space.canonical, drawn),
            "count": median_ms(lambda one: space.counts(one, task), drawn),
        }
        worst = {key: max(worst[key], row[key]) for key in worst}
        print(f"{name:22} " + " ".join(f"{value:8.3f}" for value in row.values()))
    print("worst: " + ", ".join(f"{key} {value:.3f} ms" for key, value in worst.items()))


if __name__ == "__main__":
    main()

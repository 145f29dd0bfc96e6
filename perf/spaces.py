"""Spaces: counting one architecture by formula against its network on the meta device; sampling, mutating, identity.

python -m perf spaces
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from foresee.seeds import stream
from foresee.spaces import spaces
from foresee.spaces.counting import measure as on_meta
from foresee.task import Task
from perf.harness import How, Row

SECONDS = 90
#: architectures of a space that are counted
FEW, MANY = 3, 50


def task_of(name: str) -> Task:
    """What networks of a space are usually built for."""
    if name.startswith("nasrec"):
        return Task((13,), 1, vocabularies=(100,) * 26)
    return Task((3, 224, 224), 10) if name.startswith("autoformer") else Task((3, 32, 32), 10)


def measure(how: How) -> Iterator[Row]:
    """A row for every registered space, and one for what a draw costs in the dearest of them."""
    names = ["nasbench201", "mlp"] if how.quick else spaces.names()
    worst: dict[str, tuple[float, str]] = {}
    for name in names:
        space, task, rng = spaces[name](), task_of(name), stream(0, "perf")
        drawn = [space.sample(rng) for _ in range(MANY)]
        few = drawn[:FEW]
        times = how.compare(
            {
                "formula": lambda: [space.counts(one, task) for one in few],
                "plain": lambda: [on_meta(lambda: space.build(one, task), task) for one in few],
            },
            repeats=1 if how.quick else 3,
        )
        how.check(times["formula"].result == times["plain"].result, f"{name}: the formula counts otherwise")
        ours, plain = (times[way].middle / FEW for way in ("formula", "plain"))
        yield Row(f"counts of {name}", ours, plain, "its network on the meta device", 0.5)
        jobs: dict[str, Callable[[], Any]] = {
            "sample": lambda: [space.sample(rng) for _ in drawn],
            "mutate": lambda: [space.mutate(one, rng) for one in drawn],
            "identity": lambda: [space.canonical(one) for one in drawn],
        }
        for what, found in how.compare(jobs, repeats=1 if how.quick else 3).items():
            worst[what] = max(worst.get(what, (0.0, "")), (found.middle / MANY, name))
    for what, (seconds, name) in worst.items():
        yield Row(f"{what}, in the dearest space", seconds, 1e-3, "a millisecond", 1.0, note=name)

"""The papers' benchmarks, found among the tables at hand by their content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foresee.benchmarks.formats import load
from foresee.benchmarks.table import Table
from foresee.errors import ForeseeError, UnknownNameError
from foresee.papers.cells import Unavailable

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Benchmark:
    """A column of the papers' tables: which space, which task of it, and which numbers of a table will do, best first."""

    space: str
    task: str
    targets: tuple[str, ...]


def _trained(space: str, task: str, *more: str) -> Benchmark:
    return Benchmark(space, task, (f"test_acc_{task}", f"val_acc_{task}", *more))


#: by the names their columns have
BENCHMARKS: dict[str, Benchmark] = {
    "nasbench101": _trained("nasbench101", "cifar10", "val_acc"),
    "nasbench201-cifar10": _trained("nasbench201", "cifar10"),
    "nasbench201-cifar100": _trained("nasbench201", "cifar100"),
    "nasbench201-imagenet16": _trained("nasbench201", "imagenet16"),
    "nasbench301": Benchmark("darts", "cifar10", ("val_acc_cifar10", "val_acc")),
    "nats-sss-cifar10": _trained("nats_size", "cifar10"),
    "nats-sss-cifar100": _trained("nats_size", "cifar100"),
    "nats-sss-imagenet16": _trained("nats_size", "imagenet16"),
    "transnas-object": Benchmark("transnas_micro", "class_object", ("test_class_object", "val_class_object")),
    "transnas-scene": Benchmark("transnas_micro", "class_scene", ("test_class_scene", "val_class_scene")),
    "transnas-jigsaw": Benchmark("transnas_micro", "jigsaw", ("test_jigsaw", "val_jigsaw")),
    "nasbench1shot1-s1": _trained("nasbench1shot1_s1", "cifar10", "test_acc", "val_acc"),
    "nasbench1shot1-s2": _trained("nasbench1shot1_s2", "cifar10", "test_acc", "val_acc"),
    "nasbench1shot1-s3": _trained("nasbench1shot1_s3", "cifar10", "test_acc", "val_acc"),
}

#: the suite's names of proxies that have another one here
_SUITE_NAMES = {"naswot": "nwot"}


@dataclass(frozen=True)
class Sample:
    """Architectures of a benchmark with their accuracies, in the order they were drawn."""

    benchmark: str
    space: str
    task: str
    target: str
    texts: Sequence[str]
    truth: Floats
    table: Table

    def __len__(self) -> int:
        return len(self.texts)

    def subset(self, places: Sequence[int] | NDArray[np.int64]) -> Sample:
        """Some of them, in the order given."""
        texts = [self.texts[place] for place in places]
        return Sample(
            self.benchmark, self.space, self.task, self.target, texts, self.truth[np.asarray(places, int)], self.table
        )


def tables_in(folder: Path) -> list[Table]:
    """Every table in a folder; what is no table is left alone."""
    found = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_file():
            try:
                found.append(load(path))
            except ForeseeError:
                continue
    if not found:
        raise Unavailable(f"no table in {folder}" if folder.is_dir() else f"{folder}: no such folder of tables")
    return found


def choose(tables: Sequence[Table], space: str, targets: Sequence[str]) -> tuple[Table, str]:
    """The table of a space with the first target that any has (of several tables the fullest), and that target's name."""
    of_space = [table for table in tables if table.space == space]
    for target in targets:
        having = [table for table in of_space if has(table, target)]
        if having:
            return max(having, key=lambda table: table.target(target).n), target
    raise Unavailable(f"no table of {space} with {' or '.join(targets)}" if of_space else f"no table of {space}")


def precomputed(
    tables: Sequence[Table], about: Benchmark, proxies: Sequence[str], target: str = ""
) -> tuple[Floats, ...] | None:
    """What a table at hand brought along of some proxies, then the accuracies if a target is named: what others computed.

    Of several tables the fullest; architectures without one of them are left out.
    """
    found: list[tuple[Floats, ...]] = []
    for table in tables:
        columns = [_brought(table, about.task, proxy) for proxy in proxies]
        if target:
            columns.append(table.values(target) if has(table, target) else None)
        known = [column for column in columns if column is not None]
        if table.space == about.space and len(known) == len(columns):
            everywhere = np.isfinite(known).all(0)
            found.append(tuple(column[everywhere] for column in known))
    return max(found, key=lambda columns: len(columns[0]), default=None)


def _brought(table: Table, task: str, proxy: str) -> Floats | None:
    names = (proxy, _SUITE_NAMES.get(proxy, proxy))
    name = next((name for name in (*(f"{one}:{task}" for one in names), *names) if name in table.proxies), None)
    return None if name is None else table.proxies[name]


def benchmark(name: str) -> Benchmark:
    """A benchmark by the name of its column."""
    if name not in BENCHMARKS:
        raise UnknownNameError("benchmark of the papers", name, BENCHMARKS)
    return BENCHMARKS[name]


def has(table: Table, target: str) -> bool:
    """Whether a table has a target, of more than one architecture."""
    try:
        return table.target(target).n > 1
    except UnknownNameError:
        return False

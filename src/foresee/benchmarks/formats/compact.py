"""Compact csv files of the usual benchmarks: one row for each architecture, one column for each number.

A layout is recognised by the columns that spell the architecture. Names of the other columns follow a pattern:

    test_acc_cifar10  val_acc_108  test_acc1  e12_val_acc_cifar10  naslib_val_cifar10  val_class_object    measurements
    params_cifar10  macs_cifar10  flops_cifar10  train_time_108  t_synflow                                 costs
    zen_cifar10  synflow                                                                                   precomputed proxies
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from foresee.benchmarks.formats.base import File, Format, reading
from foresee.benchmarks.formats.collect import Collector, check_space
from foresee.benchmarks.table import MEAN, UNKNOWN, Table
from foresee.errors import DataError

IMAGE_TASKS = ("cifar100", "cifar10", "imagenet16")
TRANSNAS_TASKS = (
    "class_object", "class_scene", "jigsaw", "room_layout", "segmentsemantic", "normal", "autoencoder",
)  # fmt: skip
#: columns that number or name the rows
_IGNORED = {"index", "unique_id", "naslib_idx", "hash", "space", "n"}
_COSTS = "params|macs|flops|train_time"


@dataclass(frozen=True)
class Layout:
    """One kind of compact csv.

    Args:
        name: of the benchmark.
        spelled: the columns that spell an architecture; those of `also` must be there too.
        texts: from the columns to texts of the space.
        space: the space's name; a function of the file where the file decides.
        tasks: the tasks its columns may name; the first is meant where a column names none, if it is the only one.
        epochs: of the numbers that say nothing else.
        seed: of the numbers that say nothing else.
    """

    name: str
    spelled: tuple[str, ...]
    texts: Callable[[File], Iterable[str]]
    space: Callable[[File], str]
    tasks: tuple[str, ...]
    epochs: int = UNKNOWN
    seed: int = MEAN
    also: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    #: whether params and flops are proxies here, as scores in millions, and not counts
    in_millions: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns without which it is not this layout."""
        return self.spelled + self.also

    def read(self, file: File, space: str | None) -> Table:
        """The table in a file of this layout."""
        named = self.space(file)
        check_space(file.where, named, space)
        collector = Collector(file.where, named, dict(self.settings))
        with reading(file.where, f"a compact table of {named}"):
            collector.add_all(list(self.texts(file)))
        for column in file.columns:
            if column not in _IGNORED and column not in self.spelled:
                self._add(column, file, collector)
        return collector.table()

    def _add(self, column: str, file: File, collector: Collector) -> None:
        stem, task = self._task(column, file)
        if (found := self._measurement(stem)) is not None:
            metric, epochs, seed = found
            collector.column(file.numbers(column, measured=True), metric, task, epochs, seed)
            name = "_".join(part for part in (metric, task) if part) + (f"@{epochs}" if epochs != UNKNOWN else "")
            collector.aliases[column] = f"{name}#{seed}" if seed != self.seed else name
            return
        numbers = file.numbers(column, measured=False)
        label = f"{stem}:{task}" if column != stem else stem
        if stem.startswith("t_"):
            collector.cost_column(f"seconds:{stem[2:]}", numbers)
        elif (cost := re.fullmatch(rf"({_COSTS})(?:_(\d+))?", stem)) and not self.in_millions:
            collector.cost_column(label if cost[2] is None else f"{cost[1]}:{cost[2]}", numbers)
        else:
            collector.proxy_column(label, numbers)
            if stem == "params":
                collector.cost_column("params", np.round(1e6 * numbers))

    def _task(self, column: str, file: File) -> tuple[str, str]:
        """The column's name without its task, and the task."""
        for task in self.tasks:
            if column.endswith(f"_{task}"):
                return column.removesuffix(f"_{task}"), task
        if len(self.tasks) == 1:
            return column, self.tasks[0]
        # Where no column says it, people put the task into the file's name.
        return column, next((task for task in self.tasks if task in file.path.name.lower()), "")

    def _measurement(self, stem: str) -> tuple[str, int, int] | None:
        """Metric, epochs and seed, where the column is a measurement."""
        if stem in ("naslib_val", "val_accuracy"):
            return "val_acc", self.epochs, self.seed
        if stem in ("val", "test", "train"):
            return stem, self.epochs, self.seed
        match = re.fullmatch(r"(?:e(\d+)_)?((?:val|test|train)_(?:acc|loss))(\d)?(?:_(\d+))?", stem)
        if match is None:
            return None
        before, metric, number, after = match.groups()
        epochs = next((int(text) for text in (before, after) if text), self.epochs)
        return metric, epochs, self.seed if number is None else int(number) - 1


# -- how architectures are spelled --------------------------------------------------------------------------------------
def _plain(column: str, file: File) -> Iterable[str]:
    return (text.strip() for text in file.columns[column])


def _nasbench101(file: File) -> Iterable[str]:
    from foresee.spaces.nasbench101.cell import Architecture

    return (
        str(Architecture.from_matrix(*row)) for row in zip(file.columns["adj_upper"], file.columns["ops"], strict=True)
    )


def _nasbench1shot1_space(file: File) -> str:
    numbers = set(file.columns["space"])
    if len(numbers) != 1 or not numbers <= {"1", "2", "3"}:
        raise DataError(f"{file.where}: spaces {', '.join(sorted(numbers))}, expected one of 1, 2, 3 in all rows")
    return f"nasbench1shot1_s{numbers.pop()}"


def _nasbench1shot1(file: File) -> Iterable[str]:
    from foresee.spaces.find import get

    space = get(_nasbench1shot1_space(file), loose_ends="listed")
    rows = zip(file.columns["adj7x7"], file.columns["ops"], strict=True)
    return (str(space.from_matrix(*row)) for row in rows)  # type: ignore[attr-defined]


def _transnas(file: File) -> Iterable[str]:
    from foresee.spaces.transnas.text import MicroArchitecture

    return (str(MicroArchitecture.from_digits(digits.strip())) for digits in file.columns["arch"])


def _darts(file: File) -> Iterable[str]:
    from foresee.spaces.darts.text import parse

    return (str(parse(text)) for text in file.columns["arch"])


def _always(name: str) -> Callable[[File], str]:
    return lambda file: name


LAYOUTS = (
    Layout(
        "nasbench201_proxies", ("arch_str",), partial(_plain, "arch_str"), _always("nasbench201"), IMAGE_TASKS, 200,
        also=("params", "flops"), in_millions=True,
    ),
    Layout("nasbench201", ("arch_str",), partial(_plain, "arch_str"), _always("nasbench201"), IMAGE_TASKS, 200),
    Layout("nats_size", ("channels",), partial(_plain, "channels"), _always("nats_size"), IMAGE_TASKS, 90),
    Layout("nasbench101", ("adj_upper", "ops"), _nasbench101, _always("nasbench101"), ("cifar10",), 108, 0),
    Layout(
        "nasbench1shot1", ("adj7x7", "ops"), _nasbench1shot1, _nasbench1shot1_space, ("cifar10",), 108,
        also=("space",), settings=(("loose_ends", "listed"),),
    ),
    Layout(
        "transnas_micro", ("arch",), _transnas, _always("transnas_micro"), TRANSNAS_TASKS, also=("val_class_object",)
    ),
    Layout(
        "nasbench301", ("arch",), _darts, _always("darts"), ("cifar10",), also=("val_accuracy",), in_millions=True
    ),
)  # fmt: skip


def _recognises(layout: Layout, file: File) -> bool:
    return set(layout.needs) <= set(file.header)


FORMATS = tuple(
    Format(f"{layout.name}_csv", f"a compact csv of {layout.name}", partial(_recognises, layout), layout.read)
    for layout in LAYOUTS
)


def nearest(file: File) -> str:
    """What a csv that no layout recognises lacks, in words."""
    there = set(file.header)
    close = [layout for layout in LAYOUTS if there & set(layout.needs)]
    if close:
        layout = min(close, key=lambda one: len(set(one.needs) - there))
        missing = ", ".join(sorted(set(layout.needs) - there))
        return (
            f"a csv like that of {layout.name}, but column {missing} is missing; a table of your own has the columns "
            "architecture, metric, value"
        )
    shown = ", ".join(file.header[:6]) + (", ..." if len(file.header) > 6 else "")
    if "architecture" in there:
        return (
            f"a csv with the columns {shown}; expected architecture, metric, value (a row for each number), or architecture "
            "and one column of numbers"
        )
    return f"a csv with the columns {shown}, which spell no architecture; expected architecture, metric, value"

"""Compact csv files of the usual benchmarks: one row for each architecture, one column for each number.

A layout is recognised by the columns that spell the architecture, and where several share a name by what stands there first.
Names of the other columns follow a pattern (see `naming`):

    test_acc_cifar10  val_acc_108  test_acc1  e12_val_acc_cifar10  test_acc_in16  ImageNet16-120  val_jigsaw    measurements
    params_cifar10  macs_cifar10  flops_cifar10  train_time_108  t_synflow                                     costs
    zen_cifar10  synflow                                                                                       proxies
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from foresee.benchmarks.formats import spelling
from foresee.benchmarks.formats.base import File, Format, reading
from foresee.benchmarks.formats.collect import Collector, check_space
from foresee.benchmarks.formats.naming import IMAGE_TASKS, TRANSNAS_TASKS, measured, parted, plain
from foresee.benchmarks.table import MEAN, UNKNOWN, Table
from foresee.errors import DataError

#: columns that number or name the rows
IGNORED = {"index", "unique_id", "naslib_idx", "hash", "space", "n", "unnamed:_0", ""}
_COSTS = "params|macs|flops|train_time"
#: names of a column of texts, where a benchmark's own name is not there
TEXT_COLUMNS = ("arch_str", "arch", "architecture", "arch_string", "cell", "channels")


@dataclass(frozen=True)
class Layout:
    """One kind of compact csv.

    Args:
        name: of the benchmark.
        spelled: the columns that spell an architecture; those of `also` must be there too.
        spell: how, by file, space and columns.
        space: the space's name; a function of the file and of what was asked for where the file decides.
        tasks: the tasks its columns may name; the first is meant where a column names none, if it is the only one.
        epochs: of the numbers that say nothing else.
        seed: of the numbers that say nothing else.
        looks: what a first entry must look like where the column has another name than `spelled`.
        any_of: one of these columns must be there where the first entry does not look so.
        metric: what a plain accuracy is here.
    """

    name: str
    spelled: tuple[str, ...]
    spell: Callable[[File, str, Sequence[str]], spelling.Spell]
    space: str | Callable[[File, str | None], str]
    tasks: tuple[str, ...]
    epochs: int = UNKNOWN
    seed: int = MEAN
    also: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    #: whether params and flops are proxies here, as scores in millions, and not counts
    in_millions: bool = False
    looks: Callable[[str], bool] | None = None
    any_of: tuple[str, ...] = ()
    metric: str = "acc"

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns without which it is not this layout."""
        return self.spelled + self.also + self.any_of[:1]

    def columns(self, file: File) -> tuple[str, ...]:
        """The columns that spell the architecture in a file of this layout; none where it is of another."""
        there = set(file.header)
        if not set(self.also) <= there:
            return ()
        if set(self.spelled) <= there and (self.looks is None or self.spelled != ("arch",)):
            return self.spelled if not self.any_of or there & set(self.any_of) else ()
        looks = self.looks or (lambda text: False)
        names = [name for name in TEXT_COLUMNS if looks(file.first_row.get(name, ""))]
        if names:
            return (names[0],)
        return self.spelled if set(self.spelled) <= there and there & set(self.any_of) else ()

    def read(self, file: File, space: str | None) -> Table:
        """The table in a file of this layout."""
        named = self.space if isinstance(self.space, str) else self.space(file, space)
        check_space(file.where, named, space)
        collector, spelled = Collector(file.where, named, dict(self.settings)), self.columns(file)
        with reading(file.where, f"a compact table of {named}"):
            spell = self.spell(file, named, spelled)
            collector.add_all(list(spelling.texts(file, spelled, spell)))
        for column in file.columns:
            if plain(column) not in IGNORED and column not in spelled:
                self.add(column, file, collector)
        return collector.table()

    def add(self, column: str, file: File, collector: Collector) -> None:
        """A column of numbers, as what its name says."""
        stem, task = self._task(column, file)
        if (found := self._measurement(stem, task)) is not None:
            metric, epochs, seed = found
            collector.column(file.numbers(column, measured=True), metric, task, epochs, seed, called=column)
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
        stem, task = parted(column, self.tasks)
        if task or not self.tasks:
            return stem, task
        if len(self.tasks) == 1:
            return column, self.tasks[0]
        # Where no column says it, people put the task into the file's name.
        return column, next((task for task in self.tasks if task in file.path.name.lower()), "")

    def _measurement(self, stem: str, task: str) -> tuple[str, int, int] | None:
        """Metric, epochs and seed, where the column is a measurement."""
        found = measured(stem)
        if found is None or (stem == "" and not task):
            return None
        metric, epochs, seed = found
        metric = self.metric if metric == "acc" else metric
        return metric, self.epochs if epochs is None else epochs, self.seed if seed is None else seed


_TRANSNAS_COLUMNS = tuple(f"{part}_{task}" for task in TRANSNAS_TASKS for part in ("val", "test", "train"))
LAYOUTS = (
    Layout(
        "nasbench201_proxies", ("arch_str",), spelling.nasbench201, "nasbench201", IMAGE_TASKS, 200,
        also=("params", "flops"), in_millions=True,
    ),
    Layout(
        "nasbench201", ("arch_str",), spelling.nasbench201, "nasbench201", IMAGE_TASKS, 200,
        looks=spelling.looks_nasbench201,
    ),
    Layout("nats_size", ("channels",), spelling.widths, "nats_size", IMAGE_TASKS, 90, looks=spelling.looks_widths),
    Layout("nasbench101", ("adj_upper", "ops"), spelling.nasbench101, "nasbench101", ("cifar10",), 108, 0),
    Layout(
        "nasbench1shot1", ("adj7x7", "ops"), spelling.nasbench1shot1, spelling.which_1shot1, ("cifar10",), 108,
        also=("space",), settings=(("loose_ends", "listed"),),
    ),
    Layout(
        "nasbench_macro", ("arch",), spelling.macro, "nasbench_macro", ("cifar10",), looks=spelling.looks_macro,
        any_of=("mean_acc", "acc1"), metric="test_acc",
    ),
    Layout(
        "transnas", ("arch",), spelling.transnas, spelling.which_transnas, TRANSNAS_TASKS, any_of=_TRANSNAS_COLUMNS
    ),
    Layout(
        "nasbench301", ("arch",), spelling.darts, "darts", ("cifar10",), also=("val_accuracy",), in_millions=True
    ),
)  # fmt: skip


def _recognises(layout: Layout, file: File) -> bool:
    return bool(layout.columns(file))


FORMATS = tuple(
    Format(f"{layout.name}_csv", f"a compact csv of {layout.name}", partial(_recognises, layout), layout.read)
    for layout in LAYOUTS
)


def _stated(space: str) -> Format:
    """A table of TransNAS-Bench-101 whose space is said by the format's name."""
    layout = next(one for one in LAYOUTS if one.name == "transnas")
    what = f"a compact csv of {space}"
    return Format(
        f"{space}_csv", what, partial(_recognises, layout), lambda file, asked: layout.read(file, asked or space)
    )


FORMATS += (_stated("transnas_micro"), _stated("transnas_macro"))


def nearest(file: File) -> str:
    """What a csv that no layout recognises lacks, in words."""
    there = set(file.header)
    wanted = {name for layout in LAYOUTS for name in layout.needs} | {"architecture", "metric", "value", "index"}
    for name in file.header:
        close = difflib.get_close_matches(name.lower(), wanted - there, 1, 0.8)
        if name not in wanted and close:
            return f"column {name}: did you mean {close[0]}? No column spells an architecture"
    close_ones = [layout for layout in LAYOUTS if there & set(layout.needs)]
    if close_ones:
        layout = min(close_ones, key=lambda one: len(set(one.needs) - there))
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


def check_numbers(file: File, columns: Sequence[str]) -> None:
    """A `DataError` where a file has nothing but the columns that spell its architectures."""
    if not {plain(name) for name in file.header if name not in columns} - IGNORED:
        raise DataError(f"{file.where}: no column of numbers beside {', '.join(columns)}")

"""A csv that names architectures by their numbers in the benchmark's own order: hardware or robustness tables.

    index,edgegpu_latency,fpga_energy,fgsm_acc
    0,5.8,24.1,31.7

NAS-Bench-201 numbers its cells by a shuffled list, the size space of NATS-Bench by its widths. Where no space is said
NAS-Bench-201 is meant. Every column of numbers is a measurement, but for costs (`params`, `flops`) and proxies that are known
here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from foresee.benchmarks.formats import spelling
from foresee.benchmarks.formats.base import File, Format, reading
from foresee.benchmarks.formats.collect import Collector
from foresee.benchmarks.formats.compact import IGNORED, TEXT_COLUMNS, Layout, check_numbers
from foresee.benchmarks.formats.naming import IMAGE_TASKS, measured, parted, plain
from foresee.benchmarks.table import MEAN, UNKNOWN, Table
from foresee.errors import InputError

_NUMBERS = ("index", "idx", "arch_index", "arch_idx", "architecture_index", "nasbench201_index")


def _nasbench201() -> Sequence[str]:
    from foresee.spaces.nasbench201.listing import official

    return official()


def _nats_size() -> Sequence[str]:
    from foresee.spaces.nats_size.space import NATSSize

    return tuple(map(str, NATSSize().enumerate()))


#: by space: its architectures in the benchmark's own order, and the epochs of its accuracies
_ORDERS: dict[str, Callable[[], Sequence[str]]] = {"nasbench201": _nasbench201, "nats_size": _nats_size}


@lru_cache(maxsize=2)
def _order(space: str) -> Sequence[str]:
    return _ORDERS[space]()


def read(file: File, space: str | None) -> Table:
    """The table of a csv with numbers for architectures."""
    if space not in (None, *_ORDERS):
        raise InputError(
            f"{file.where}: names its architectures by numbers, which {space} does not have; {' and '.join(_ORDERS)} do"
        )
    named, column = space or "nasbench201", _column(file)
    order = _order(named)

    def spell(text: str) -> str:
        number = float(text) if text.replace(".", "", 1).isdigit() and text.isascii() and len(text) < 20 else -1.0
        if number != int(number) or not 0 <= number < len(order):
            other = " (nats_size has 32,768: say --space nats_size)" if space is None and number < 32_768 else ""
            raise InputError(
                f"{text[:40]!r}, expected a whole number from 0 to {len(order) - 1}, the place in the order of {named}"
                f"{other if number >= len(order) else ''}"
            )
        return order[int(number)]

    collector = Collector(file.where, named)
    with reading(file.where, f"a table of {named} by numbers"):
        collector.add_all(list(spelling.texts(file, (column,), spell)))
    check_numbers(file, (column,))
    layout = Layout("by number", (column,), spelling.nasbench201, named, IMAGE_TASKS)
    for name in file.columns:
        if name != column and plain(name) not in IGNORED:
            _add(name, file, collector, layout)
    return collector.table()


def _add(column: str, file: File, collector: Collector, layout: Layout) -> None:
    """A column of numbers: what its name says, else a measurement called by it."""
    stem, task = parted(column, IMAGE_TASKS)
    if measured(stem) is not None or _known(stem):
        layout.add(column, file, collector)
        return
    metric = plain(stem)
    collector.column(file.numbers(column, measured=True), metric, task, UNKNOWN, MEAN, called=column)
    collector.aliases[column] = "_".join(part for part in (metric, task) if part)


def _known(stem: str) -> bool:
    """Whether it is a cost, or a proxy of ours."""
    if stem.startswith("t_") or stem.partition("_")[0] in ("params", "macs", "flops"):
        return True
    from foresee.proxies.base import proxies

    return plain(stem) in proxies.names()


def _column(file: File) -> str:
    """The column of numbers for architectures."""
    return next(name for name in file.header if plain(name) in _NUMBERS)


def _recognises(file: File) -> bool:
    spelled = {*TEXT_COLUMNS, "adj_upper", "adj7x7", "ops", "metric", "value"}
    return not spelled & set(file.header) and any(plain(name) in _NUMBERS for name in file.header)


FORMAT = Format("indexed", "a csv with a benchmark's numbers for architectures", _recognises, read)

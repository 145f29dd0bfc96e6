"""NAS-Bench-Suite-Zero's `zc_*.json`: thirteen precomputed proxies and the validation accuracy of each architecture.

    {"cifar10": {"(4, 0, 3, 1, 4, 3)": {"id": ..., "synflow": {"score": 46.4, "time": 1.1}, ..., "val_accuracy": 81.9}}}

Architectures are written as tuples. Which tuple is which architecture differs by benchmark:

- NAS-Bench-201: an operation for each edge in the order 12, 13, 14, 23, 24, 34 of `_201_EDGES`, counted as in `_201_OPS`
- TransNAS-Bench-101: the six digits of the benchmark's own text (micro), or its modules filled up by zeros (macro)
- NAS-Bench-101: the entries of the matrix, then a number for each vertex as in `_101_OPS`
- NAS-Bench-301: (input, operation) pairs of both cells
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from foresee.benchmarks.formats.base import File, Format, reading
from foresee.benchmarks.formats.collect import Collector, check_space, entry_number, task_name
from foresee.benchmarks.formats.naming import TRANSNAS_TASKS
from foresee.benchmarks.table import MEAN, UNKNOWN, Table
from foresee.errors import DataError, ForeseeError

_201_OPS = ("skip_connect", "none", "nor_conv_3x3", "nor_conv_1x1", "avg_pool_3x3")
_201_EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
_101_OPS = ("input", "output", "maxpool3x3", "conv1x1-bn-relu", "conv3x3-bn-relu")
_EPOCHS = {"nasbench101": 108, "nasbench201": 200}


def read(file: File, space: str | None) -> Table:
    """The table of one of the suite's files."""
    with reading(file.where, "a file of NAS-Bench-Suite-Zero"):
        named = _space(file.json, space)
        check_space(file.where, named, space)
        collector = Collector(file.where, named)
        translate = _TRANSLATE[named]
        places: dict[str, int] = {}
        epochs = _EPOCHS.get(named, UNKNOWN)
        for data, architectures in file.json.items():
            task = task_name(data)
            for key, entry in architectures.items():
                where = f"{file.where}, {data}, architecture {key[:60]}"
                if key not in places:
                    places[key] = collector.new(_translated(translate, key, where))
                place = places[key]
                for name, value in entry.items():
                    if isinstance(value, dict):
                        _add_proxy(collector, place, name, task, value)
                    elif name.endswith("accuracy"):
                        measured = entry_number(value, f"{where}, {name}")
                        if measured is None:
                            continue
                        collector.measure(place, measured, _METRICS.get(name, name), task, epochs, MEAN)
                        alias = name if len(file.json) == 1 else f"{name}_{task}"
                        collector.aliases[alias] = f"{_METRICS.get(name, name)}_{task}"
        return collector.table()


def _add_proxy(collector: Collector, place: int, name: str, task: str, value: dict[str, Any]) -> None:
    """A proxy's score and the time it took; null is a missing one."""
    score, seconds = (math.nan if value.get(key) is None else float(value[key]) for key in ("score", "time"))
    collector.proxy(place, f"{name}:{task}", score)
    if math.isfinite(seconds):
        collector.cost(place, f"seconds:{name}_{task}", seconds)
    if name == "params" and math.isfinite(score):  # the suite gives millions
        collector.cost(place, f"params:{task}", round(1e6 * score))


_METRICS = {"val_accuracy": "val_acc", "train_accuracy": "train_acc", "test_accuracy": "test_acc"}


def _translated(translate: Callable[[str], str], key: str, where: str) -> str:
    try:
        return translate(key)
    except (ForeseeError, LookupError, TypeError, ValueError) as error:
        raise DataError(f"{where}: {error if isinstance(error, ForeseeError) else 'not numbers that fit'}") from error


def _space(plain: dict[str, Any], asked: str | None) -> str:
    keys = [key for architectures in plain.values() for key in architectures]
    first = _numbers(keys[0])
    if not isinstance(first[0], int):
        return "darts"
    if len(first) > 6:
        return "nasbench101"
    if not {task_name(data) for data in plain} & set(TRANSNAS_TASKS):
        return "nasbench201"
    from foresee.spaces.transnas.text import trouble

    # A file holds one of the two spaces: skeletons are filled up at the end, and only there. Few rows may fit both.
    if asked == "transnas_micro" and all(len(_numbers(key)) == 6 and "4" not in key for key in keys):
        return asked
    return "transnas_macro" if all(trouble(_modules(key)) is None for key in keys) else "transnas_micro"


def _numbers(key: str) -> Any:
    from foresee.spaces.darts.text import literal

    numbers = literal(key, "(4, 0, 3, 1, 4, 3)")
    if not isinstance(numbers, list) or not numbers:
        raise DataError(f"architecture {key[:60]!r}: expected a tuple of numbers")
    return numbers


def _modules(key: str) -> str:
    return "".join(map(str, _numbers(key))).rstrip("0")


def _nasbench201(key: str) -> str:
    ops = dict(zip(_201_EDGES, (_201_OPS[number] for number in _numbers(key)), strict=True))
    return "+".join("|" + "".join(f"{ops[source, node]}~{source}|" for source in range(node)) for node in (1, 2, 3))


def _nasbench101(key: str) -> str:
    from foresee.spaces.nasbench101.cell import Architecture

    numbers = _numbers(key)
    size = math.isqrt(len(numbers))  # n * n entries and n vertices
    if size * size + size != len(numbers):
        raise DataError(f"architecture {key[:60]!r}: {len(numbers)} numbers are no square matrix with its operations")
    rows = [numbers[start : start + size] for start in range(0, size * size, size)]
    return str(Architecture.from_matrix(rows, [_101_OPS[number] for number in numbers[-size:]]))


def _micro(key: str) -> str:
    from foresee.spaces.transnas.text import MicroArchitecture

    return str(MicroArchitecture.from_digits("".join(map(str, _numbers(key)))))


def _macro(key: str) -> str:
    from foresee.spaces.transnas.text import MacroArchitecture

    return str(MacroArchitecture(_modules(key)))


def _darts(key: str) -> str:
    from foresee.spaces.darts.text import parse

    return str(parse(key))


_TRANSLATE: dict[str, Callable[[str], str]] = {
    "nasbench201": _nasbench201,
    "nasbench101": _nasbench101,
    "transnas_micro": _micro,
    "transnas_macro": _macro,
    "darts": _darts,
}


def _recognises(file: File) -> bool:
    if not file.is_json or '"score"' not in file.first_text:
        return False
    plain: Any = file.json
    for _ in range(4):
        if not isinstance(plain, dict) or not plain:
            return False
        if "score" in plain:
            return True
        plain = next((part for part in plain.values() if isinstance(part, dict)), None)
    return False


FORMAT = Format("suite_zero", "NAS-Bench-Suite-Zero's zc_*.json", _recognises, read)

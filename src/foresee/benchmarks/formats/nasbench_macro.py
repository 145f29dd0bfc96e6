"""NAS-Bench-Macro's own JSON: three trainings of each network on CIFAR-10.

    {"00000000": {"test_acc": [45.32, 45.33, 45.44], "mean_acc": 45.36, "std": 0.05, "params": 387882, "flops": 7713280}, ...}

A number that is null is a missing one.
"""

from __future__ import annotations

import re
from typing import Any

from foresee.benchmarks.formats.base import File, Format, reading
from foresee.benchmarks.formats.collect import Collector, check_space, entry_number
from foresee.benchmarks.table import MEAN, UNKNOWN, Table
from foresee.errors import DataError

METRIC, TASK = "test_acc", "cifar10"


def read(file: File, space: str | None) -> Table:
    """The table of the benchmark's file; the trainings are the seeds 0, 1, 2, and its mean stays the mean."""
    check_space(file.where, "nasbench_macro", space)
    collector = Collector(file.where, "nasbench_macro")
    with reading(file.where, "NAS-Bench-Macro's JSON"):
        from foresee.spaces.nasbench_macro.architecture import Architecture

        for text, entry in file.json.items():
            where = f"{file.where}, architecture {text[:40]!r}"
            if not isinstance(entry, dict):
                raise DataError(f"{where}: {str(entry)[:40]!r}, expected test_acc, mean_acc, params and flops by name")
            try:
                place = collector.new(str(Architecture.parse(text)))
            except ValueError as error:
                raise DataError(f"{where}: {error}") from error
            _add(collector, place, entry, where)
    collector.aliases.update({"mean_acc": f"{METRIC}_{TASK}"})
    return collector.table()


def _add(collector: Collector, place: int, entry: dict[str, Any], where: str) -> None:
    accuracies = entry.get("test_acc", [])
    for seed, value in enumerate(accuracies if isinstance(accuracies, list) else [accuracies]):
        if (number := entry_number(value, f"{where}, test_acc {seed + 1}")) is not None:
            collector.measure(place, number, METRIC, TASK, UNKNOWN, seed)
    if (mean := entry_number(entry.get("mean_acc"), f"{where}, mean_acc")) is not None:
        collector.measure(place, mean, METRIC, TASK, UNKNOWN, MEAN)
    for name in ("params", "flops"):
        if (cost := entry_number(entry.get(name), f"{where}, {name}")) is not None:
            collector.cost(place, name, cost)


def _recognises(file: File) -> bool:
    if not file.is_json or not re.match(r'\s*\{\s*"[^"]{1,40}"\s*:\s*\{', file.first_text):
        return False
    if '"mean_acc"' not in file.first_text and '"test_acc"' not in file.first_text:
        return False
    first = next(iter(file.json.values()), None) if isinstance(file.json, dict) else None
    return isinstance(first, dict) and ("mean_acc" in first or "test_acc" in first)


FORMAT = Format("nasbench_macro", "NAS-Bench-Macro's JSON", _recognises, read)

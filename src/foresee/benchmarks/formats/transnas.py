"""TransNAS-Bench-101's `.pth` file: seven tasks, both spaces, every epoch.

    {"data": {"micro": {"64-41414-1_02_333": {"class_scene": {"metrics": {"valid_top1": [...], ...},
                                                              "model_info": {...}, "total_epochs": 25}}}, "macro": ...},
     "task_list": [...], "metrics_dict": {...}, "info_names": [...]}

We keep the last epoch of each metric, and of the validation and test metrics the best epoch as well (`best_val_top1`), which
is what the benchmark's own interface gives by default. One file holds two spaces: `space` says which one is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foresee.benchmarks.formats.base import File, reading
from foresee.benchmarks.formats.collect import Collector
from foresee.benchmarks.table import Table, direction
from foresee.errors import InputError

_SPACES = {"transnas_micro": "micro", "transnas_macro": "macro"}
_COSTS = {"model_params": "params", "model_FLOPs": "flops", "encoder_FLOPs": "encoder_flops"}


def read(file: File, plain: Mapping[str, Any], space: str | None) -> Table:
    """The table of one of the two spaces of the file."""
    there = [name for name, short in _SPACES.items() if short in plain["data"]]
    if space is None and len(there) == 1:
        space = there[0]
    if space not in there:
        asked = f"not {space}" if space else "so say which with --space"
        raise InputError(f"{file.where}: holds {' and '.join(there) or 'neither space'}, {asked}")
    collector = Collector(file.where, space)
    with reading(file.where, "a TransNAS-Bench-101 file"):
        for text, tasks in plain["data"][_SPACES[space]].items():
            place = collector.new(text)
            for task, result in tasks.items():
                for name, series in result["metrics"].items():
                    _add(collector, place, name, task, list(map(float, series)))
                for name, value in result["model_info"].items():
                    collector.cost(place, f"{_COSTS.get(name, name)}:{task}", float(value))
    return collector.table()


def _add(collector: Collector, place: int, name: str, task: str, series: list[float]) -> None:
    part, _, what = name.partition("_")
    part = {"valid": "val"}.get(part, part)
    if part not in ("train", "val", "test") or not series:
        return  # seconds elapsed
    metric = f"{part}_{what}"
    collector.measure(place, series[-1], metric, task, len(series))
    if part != "train":
        best = max(series) if direction(metric) == "higher" else min(series)
        collector.measure(place, best, f"best_{metric}", task, len(series))

"""NAS-Bench-201 and NATS-Bench, as their interfaces store them: results of each architecture by epochs, data set and seed.

    {"meta_archs": [text, ...], "arch2infos": {number: {"200": results, "12": results}}}

`full` and `less` are NAS-Bench-201's older words for 200 and 12 epochs. Results hold `all_results[data set, seed]` with lists
over epochs; we keep the last. The benchmark trains on CIFAR-10 twice: `cifar10-valid` holds half of the images out and
gives our `val_acc_cifar10`; `cifar10` trains on all and gives `test_acc_cifar10`. For the other data sets `x-valid` and
`x-test` are halves of the published test images, and `ori-test` is both together, our `valtest_acc`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from foresee.benchmarks.formats.base import File, reading
from foresee.benchmarks.formats.collect import Collector, check_space, task_name
from foresee.benchmarks.table import Table
from foresee.errors import DataError

#: (text where the file has it apart from the results, {epochs: results})
Entry = tuple[str | None, Mapping[str, Any]]
#: (data set, set) -> (what, task), where it is not the plain one
_SETS = {
    ("cifar10-valid", "x-valid"): ("val", "cifar10"),
    ("cifar10-valid", "ori-test"): ("test", "cifar10_valid"),
    ("cifar10", "ori-test"): ("test", "cifar10"),
}
_WHAT = {"x-valid": "val", "x-test": "test", "ori-test": "valtest"}


def is_result(plain: Any) -> bool:
    """Whether this is the record of one architecture trained for some epochs."""
    return isinstance(plain, dict) and "all_results" in plain


def whole(plain: Mapping[str, Any], where: str) -> Iterable[Entry]:
    """The entries of a file with all architectures, in the benchmark's order."""
    texts, infos = plain["meta_archs"], plain["arch2infos"]
    if not isinstance(infos, dict) or not all(isinstance(n, int) and 0 <= n < len(texts) for n in infos):
        raise DataError(f"{where}: arch2infos does not number the {len(texts)} architectures of meta_archs")
    return ((texts[number], infos[number]) for number in sorted(infos))


def read(file: File, entries: Iterable[Entry], space: str | None) -> Table:
    """The table of these entries."""
    collector: Collector | None = None
    with reading(file.where, "a NAS-Bench-201 or NATS-Bench file"):
        for text, results in entries:
            text = str(text or next(iter(results.values()))["arch_str"])
            if collector is None:
                named = "nasbench201" if "|" in text else "nats_size"
                check_space(file.where, named, space)
                collector = Collector(file.where, named)
            place = collector.new(text)
            for result in results.values():
                _add(collector, place, result["all_results"])
    if collector is None:
        raise DataError(f"{file.where}: no architecture in it")
    return collector.table()


def _add(collector: Collector, place: int, trials: Mapping[tuple[str, int], Mapping[str, Any]]) -> None:
    costs: dict[str, list[float]] = {}
    for (data, seed), trial in trials.items():
        task, epochs = task_name(data), int(trial["epochs"])
        for kind, series in (("acc", trial["train_acc1es"]), ("loss", trial["train_losses"])):
            collector.measure(place, _number(series[epochs - 1]), f"train_{kind}", task, epochs, int(seed))
        for name in trial["eval_names"]:
            what, on = _SETS.get((data, name), (_WHAT.get(name, name), task))
            for kind, series in (("acc", trial["eval_acc1es"]), ("loss", trial["eval_losses"])):
                value = series.get(f"{name}@{epochs - 1}")
                if value is not None:
                    collector.measure(place, _number(value), f"{what}_{kind}", on, epochs, int(seed))
        for cost, value in _costs(trial, task, epochs):
            costs.setdefault(cost, []).append(value)
    for cost, values in costs.items():
        collector.cost_once(place, cost, math.fsum(values) / len(values))


def _costs(trial: Mapping[str, Any], task: str, epochs: int) -> Iterable[tuple[str, float]]:
    """Costs of one trial; the benchmark counts parameters and MACs in millions, and calls the latter flops."""
    yield f"params:{task}", round(1e6 * _number(trial["params"]))
    yield f"macs:{task}", round(1e6 * _number(trial["flop"]))
    latency = trial.get("latency")
    if isinstance(latency, list | tuple) and latency:
        seconds = math.fsum(map(_number, latency)) / len(latency)
        if seconds > 0:
            yield f"latency:{task}", seconds
    times = trial.get("train_times")
    if times:
        series = times.values() if isinstance(times, dict) else times
        yield f"train_time:{task}@{epochs}", math.fsum(map(_number, series))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"a {type(value).__name__} where a number was expected")
    return float(value)

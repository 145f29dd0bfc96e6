"""A plain long csv: your own measurements in the simplest form, and what `save` writes under a name in `.csv` or `.csv.gz`.

    architecture,metric,value,task,epochs,seed,params,proxy:synflow
    |nor_conv_3x3~0|+...,test_acc,93.1,cifar10,200,0,802426,83.0
    |nor_conv_3x3~0|+...,test_acc,93.4,cifar10,200,1,,

`architecture`, `metric` and `value` are needed. `task`, `epochs` and `seed` may be missing or empty; an empty seed is a
mean. Any other column is a cost, or with `proxy:` before it a precomputed proxy, written on any one row of its architecture.
A row without metric and value only states those. A csv of two columns, `architecture` and one more, holds one measurement of
each architecture, named by that column. `space` and `space_settings` (JSON) are written on the first row.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np

from foresee.benchmarks.formats.base import File, Format, whole_file
from foresee.benchmarks.formats.collect import Collector, check_space
from foresee.benchmarks.table import MEAN, UNKNOWN, Table
from foresee.errors import DataError

NEEDED = ("architecture", "metric", "value")
_KNOWN = (*NEEDED, "task", "epochs", "seed", "space", "space_settings")
#: second columns that mean another kind of csv: half of a long one, or predictions of NAS-Bench-301
_ELSEWHERE = {*_KNOWN, "prediction", "predicted_accuracy", "val_accuracy"}
_PROXY = "proxy:"


def read(file: File, space: str | None) -> Table:
    """The table of a long csv."""
    columns = file.columns
    named = _stated(file, "space")
    if named:
        check_space(file.where, named, space)
    collector = Collector(file.where, named or space or "", _settings(file))
    for row, text in enumerate(columns["architecture"]):
        if not text.strip():
            raise DataError(f"{file.where}, row {file.line(row)}, column architecture: no text of an architecture")
    places = [collector.place(text.strip()) for text in columns["architecture"]]
    single = _single(file)
    metrics = (single,) * len(places) if single else columns["metric"]
    values = file.numbers(single or "value", measured=True)
    epochs, seeds = _whole(file, "epochs", UNKNOWN), _whole(file, "seed", MEAN)
    tasks = columns.get("task", ("",) * len(places))
    first: dict[tuple[int, str, str, int, int], int] = {}
    for row, (place, metric, task) in enumerate(zip(places, metrics, tasks, strict=True)):
        if np.isnan(values[row]) and (single or not metric.strip()):
            continue
        if np.isnan(values[row]) or not metric.strip():
            raise DataError(
                f"{file.where}, row {file.line(row)}: a metric and a value belong together; leave out both or none"
            )
        key = (place, metric.strip(), task.strip(), epochs[row], seeds[row])
        if first.setdefault(key, row) != row:
            raise DataError(
                f"{file.where}, row {file.line(row)}: {key[1]} of architecture {columns['architecture'][row].strip()[:80]} "
                f"comes twice, first in row {file.line(first[key])}; keep one row of it"
            )
        collector.measure(place, float(values[row]), *key[1:])
    for name in columns:
        if name not in (*_KNOWN, single):
            numbers = file.numbers(name, measured=False)
            for row in np.flatnonzero(~np.isnan(numbers)).tolist():
                if name.startswith(_PROXY):
                    collector.proxy(places[row], name.removeprefix(_PROXY), float(numbers[row]))
                else:
                    collector.cost(places[row], name, float(numbers[row]))
    return collector.table()


def _single(file: File) -> str:
    """The one measurement that a csv of two columns holds; empty where it is another kind of csv."""
    names = set(file.header) - {"architecture"}
    return names.pop() if len(file.header) == 2 and len(names) == 1 and not names & _ELSEWHERE else ""


def _stated(file: File, name: str) -> str:
    stated = {text.strip() for text in file.columns.get(name, ())} - {""}
    if len(stated) > 1:
        raise DataError(f"{file.where}: {name} is {' and '.join(sorted(stated)[:3])}; a table has one")
    return stated.pop() if stated else ""


def _settings(file: File) -> dict[str, object]:
    text = _stated(file, "space_settings")
    try:
        settings = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):
        raise DataError(f"{file.where}: space_settings {text[:60]!r}, expected a JSON object")
    return settings


def _whole(file: File, name: str, missing: int) -> list[int]:
    if name not in file.columns:
        return [missing] * len(file.columns["architecture"])
    numbers = file.numbers(name, measured=True)
    wrong = np.flatnonzero(~np.isnan(numbers) & ((numbers != np.round(numbers)) | (numbers < -1) | (numbers >= 2**31)))
    if len(wrong):
        text = file.columns[name][int(wrong[0])]
        raise DataError(
            f"{file.where}, row {file.line(int(wrong[0]))}: {name} is {text}, expected a whole number from 0, or nothing"
        )
    return [missing if np.isnan(number) else int(number) for number in numbers]


def write(table: Table, path: Path) -> None:
    """Write a table so that `read` gives it back; aliases and where it came from are not written."""
    costs = [*table.costs.items(), *((_PROXY + name, column) for name, column in table.proxies.items())]
    states_space = ["space", "space_settings"] if table.space else []
    # Without a name and date inside, the same table gives the same bytes.
    rows = table.rows
    order = np.argsort(rows.architecture, kind="stable")
    starts = np.searchsorted(rows.architecture[order], np.arange(len(table) + 1))
    with whole_file(path) as unfinished, unfinished.open("wb") as raw:
        packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else raw
        with io.TextIOWrapper(packed, encoding="utf-8", newline="") as text:
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow([*NEEDED, "task", "epochs", "seed", *(name for name, _ in costs), *states_space])
            for place, architecture in enumerate(table.architectures):
                once = [_number(column[place]) for _, column in costs]
                if states_space:
                    first = [table.space, json.dumps(dict(table.space_settings)) if table.space_settings else ""]
                    once += first if place == 0 else ["", ""]
                measured = order[starts[place] : starts[place + 1]].tolist()
                for row in measured:
                    numbers = (int(rows.epochs[row]), int(rows.seed[row]))
                    writer.writerow(
                        [
                            architecture,
                            rows.metrics[rows.metric[row]],
                            repr(float(rows.value[row])),
                            rows.tasks[rows.task[row]],
                            *("" if number == -1 else number for number in numbers),
                            *once,
                        ]
                    )
                    once = [""] * len(once)
                if not measured:
                    writer.writerow([architecture, "", "", "", "", "", *once])


def _number(value: float) -> str:
    return "" if np.isnan(value) else repr(float(value))


FORMAT = Format(
    "csv",
    "a long csv (architecture, metric, value, ...)",
    lambda file: set(NEEDED) <= set(file.header) or bool(_single(file)),
    read,
)

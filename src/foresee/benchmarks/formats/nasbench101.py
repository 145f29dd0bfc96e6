"""NAS-Bench-101's record file, full (4, 12, 36 and 108 epochs) or with 108 epochs only.

A record is a JSON list: the module's hash, epochs, the digits of its matrix, its operations joined by commas, and a
protocol-buffer message in base64. That message holds evaluations (field 1: epoch, seconds, accuracies on training,
validation and test images in fields 1 to 5) at the start, half way and at the end, and the parameters (field 2). We keep
the end. Repeats come in the file's order and become the seeds 0, 1, 2.
"""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from typing import Any

from foresee.benchmarks.formats.base import File, Format
from foresee.benchmarks.formats.collect import Collector, check_space
from foresee.benchmarks.formats.protobuf import fields
from foresee.benchmarks.formats.records import begins_a_record, records
from foresee.benchmarks.table import Table
from foresee.errors import DataError, ForeseeError

_EVALUATION, _PARAMS = 1, 2
_SECONDS = 2
_ACCURACIES = {3: "train_acc", 4: "val_acc", 5: "test_acc"}
EPOCHS = (4, 12, 36, 108)


def read(file: File, space: str | None) -> Table:
    """The table of a record file."""
    from foresee.spaces.nasbench101.cell import Architecture

    check_space(file.where, "nasbench101", space)
    collector = Collector(file.where, "nasbench101")
    places: dict[str, int] = {}
    repeats: defaultdict[tuple[int, int], int] = defaultdict(int)
    seconds: defaultdict[tuple[int, int], float] = defaultdict(float)
    for number, record in enumerate(records(file.path)):
        try:
            key, epochs, matrix, operations, metrics = json.loads(record)
            params, final = _metrics(base64.b64decode(metrics, validate=True))
            if epochs not in EPOCHS:
                raise ValueError(f"{epochs!r} epochs, expected one of {EPOCHS}")
            if key not in places:
                places[key] = collector.new(str(Architecture.from_matrix(matrix, operations.split(","))))
                collector.cost(places[key], "params", params)
            place = places[key]
            for field, metric in _ACCURACIES.items():
                collector.measure(place, 100 * final[field], metric, "cifar10", epochs, repeats[place, epochs])
            repeats[place, epochs] += 1
            seconds[place, epochs] += final[_SECONDS]
        except (ForeseeError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            reason = f"no field {error}" if isinstance(error, KeyError) else str(error)
            raise DataError(f"{file.where}, record {number}: not one of NAS-Bench-101's ({reason})") from error
    for (place, epochs), total in seconds.items():
        collector.cost(place, f"train_time:{epochs}", total / repeats[place, epochs])
    return collector.table()


def _metrics(message: bytes) -> tuple[int, dict[int, Any]]:
    """The parameters, and the fields of the last evaluation."""
    params, last = None, None
    for number, value in fields(message):
        if number == _PARAMS:
            params = value
        elif number == _EVALUATION:
            last = value
    if not isinstance(params, int) or not isinstance(last, bytes):
        raise ValueError("its metrics hold no parameters or no evaluation")
    return params, dict(fields(last))


def _recognises(file: File) -> bool:
    return file.path.is_file() and (file.path.suffix == ".tfrecord" or begins_a_record(file.head))


FORMAT = Format("nasbench101", "NAS-Bench-101's record file", _recognises, read)

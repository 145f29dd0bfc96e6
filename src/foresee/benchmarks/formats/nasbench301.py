"""Predictions of NAS-Bench-301's surrogate, imported: a csv or JSON of architectures and predicted accuracies.

    arch,prediction                                 [{"arch": ..., "prediction": 94.2}, ...]   or   {"<arch>": 94.2, ...}

An architecture is a genotype, the benchmark's configuration, or (input, operation) pairs. `predict` asks a surrogate
itself, where the library of that benchmark is installed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from foresee.benchmarks.formats.base import File, Format, reading
from foresee.benchmarks.formats.collect import Collector, check_space
from foresee.benchmarks.table import MEAN, UNKNOWN, Table
from foresee.errors import DataError
from foresee.extras import need

_ARCHITECTURE = ("arch", "architecture", "genotype", "config")
_PREDICTION = ("prediction", "predicted_accuracy", "val_accuracy", "accuracy")
METRIC, TASK = "val_acc", "cifar10"


def read(file: File, space: str | None) -> Table:
    """The table of a file of predictions."""
    check_space(file.where, "darts", space)
    with reading(file.where, "NAS-Bench-301 predictions"):
        return _table(file.where, _csv_pairs(file) if file.header else _json_pairs(file.json))


def _table(where: str, pairs: Iterable[tuple[str, float]]) -> Table:
    from foresee.spaces.darts.text import parse

    collector = Collector(where, "darts")
    for text, value in pairs:
        collector.measure(collector.new(str(parse(text))), value, METRIC, TASK, UNKNOWN, MEAN)
    collector.aliases.update(dict.fromkeys(("prediction", "val_accuracy"), f"{METRIC}_{TASK}"))
    return collector.table()


def _csv_pairs(file: File) -> Iterable[tuple[str, float]]:
    text, prediction = (_pick(file.header, names) for names in (_ARCHITECTURE, _PREDICTION))
    values = file.numbers(prediction, measured=True)
    if np.isnan(values).any():
        raise DataError(f"{file.where}, row {file.line(int(np.isnan(values).argmax()))}: no {prediction}")
    return zip(file.columns[text], values.tolist(), strict=True)


def _json_pairs(plain: Any) -> Iterable[tuple[str, float]]:
    if isinstance(plain, dict):
        return ((text, float(value)) for text, value in plain.items() if value is not None)
    text, prediction = (_pick(tuple(plain[0]), names) for names in (_ARCHITECTURE, _PREDICTION))
    return ((_written(entry[text]), float(entry[prediction])) for entry in plain if entry[prediction] is not None)


def _written(architecture: Any) -> str:
    return architecture if isinstance(architecture, str) else json.dumps(architecture)


def _pick(names: Sequence[str], wanted: tuple[str, ...]) -> str:
    return next(name for name in wanted if name in names)


def _recognises(file: File) -> bool:
    def fits(names: Iterable[str]) -> bool:
        known = set(names)
        return bool(known & set(_ARCHITECTURE) and known & set(_PREDICTION))

    if file.header:
        return fits(file.header)
    if not file.is_json:
        return False
    plain = file.json
    if isinstance(plain, list):
        return bool(plain) and isinstance(plain[0], dict) and fits(plain[0])
    return (
        isinstance(plain, dict)
        and all(isinstance(value, int | float | None) for value in plain.values())
        and bool(plain)
    )


FORMAT = Format("nasbench301", "NAS-Bench-301 predictions (csv or JSON)", _recognises, read)


def predict(folder: str | Path, texts: Sequence[str]) -> Table:
    """What a surrogate of NAS-Bench-301 says of these DARTS architectures, without its noise.

    `folder` is an unpacked model of the benchmark (`xgb_v1.0`, `gnn_gin_v1.0`). Its files are pickles that the benchmark's
    library loads: only use models you trust.
    """
    from foresee.spaces.darts.text import parse

    library = need("nasbench301")
    if not Path(folder).is_dir():
        raise DataError(f"{folder}: no such folder; expected an unpacked surrogate model such as xgb_v1.0")
    with reading(str(folder), "a NAS-Bench-301 surrogate"):
        model = library.load_ensemble(str(folder))
        pairs = []
        for text in texts:
            genotype = _genotype(parse(text))
            pairs.append((text, float(model.predict(config=genotype, representation="genotype", with_noise=False))))
    return _table(str(folder), pairs)


def _genotype(architecture: Any) -> Any:
    from collections import namedtuple

    fields = {}
    for kind in ("normal", "reduce"):
        fields[kind] = list(architecture[kind].edges)
        fields[f"{kind}_concat"] = list(architecture[kind].concat)
    return namedtuple("Genotype", fields)(**fields)

"""Benches and calibrations read again from the files in their folders, as `Run.open` does for a search.

What is read may be anybody's: whatever does not make sense is a `RunError` that names the file. Correlations are not taken
from the file but computed again from its scores, by the same resamples, so they are what they were.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from foresee.benchmarks.benches.result import RESULT, SCORES, Bench
from foresee.benchmarks.benches.settings import BenchSettings
from foresee.benchmarks.calibrated import CALIBRATION, CalibratedTable
from foresee.benchmarks.calibration import Calibration, Skill
from foresee.benchmarks.rank_model import Array
from foresee.benchmarks.reading import direction_of, number, read_json, read_text, reading
from foresee.benchmarks.table import UNKNOWN, Target
from foresee.scoring.many import ScoreMatrix
from foresee.statistics import Estimate, correlate
from foresee.task import Task

#: what the settings of a calibration hold, with the types of it
_ASKED: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("space", "table", "target", "foreseen", "untrained", "data"), str),
    **dict.fromkeys(("trained", "bootstrap", "seed"), int),
    **{"space_settings": dict, "proxies": list, "parts": bool, "coverage": float, "sample": (int, type(None))},
}


def open_bench(folder: str | Path) -> Bench:
    """The bench in a folder."""
    where = Path(folder)
    with reading(where / RESULT):
        plain = read_json(where / RESULT)
        settings = BenchSettings.from_json(plain["settings"])
        if "sample" not in plain["settings"]:  # all of the table
            settings = replace(settings, sample=None)
        direction, told = direction_of(plain["direction"]), plain["proxies"]
    with reading(where / SCORES):
        texts, numbers = _scores(where / SCORES, settings, list(told))
        truth, seeds = numbers[:, 0], len(settings.seeds)
        columns = {name: numbers[:, 1 + seeds * place :][:, :seeds] for place, name in enumerate(told)}
    with reading(where / RESULT):
        matrices = {name: _matrix(name, one, columns[name]) for name, one in told.items()}
        merits = truth if direction == "higher" else -truth
        top = [k for k in settings.top if k < len(texts)]
        look: dict[str, Any] = {"bootstrap": settings.bootstrap, "seed": settings.scoring.seed, "top": top}
        found = {name: correlate(matrix.merit, merits, **look) for name, matrix in matrices.items()}
        notes, environment = tuple(map(str, plain["notes"])), dict(plain["environment"])
        of, looked_at = int(plain["of"]), str(plain["looked_at"])
    return Bench(settings, texts, truth, direction, of, matrices, found, looked_at, notes, environment, where)


def open_calibration(folder: str | Path) -> CalibratedTable:
    """The calibration in a folder."""
    where = Path(folder)
    with reading(where / CALIBRATION):
        plain = read_json(where / CALIBRATION)
        trained, rows, asked = plain["trained"], _unordered(plain), dict(plain["settings"])
        wrong = [name for name, kind in _ASKED.items() if not isinstance(asked.get(name), kind)]
        if wrong or not trained or not rows:
            raise ValueError(f"no {wrong[0]}" if wrong else "no trained architectures, or none foreseen")
        beside = [number(row.get("untrained"), missing=-np.inf) for row in trained]
        known = "untrained" in trained[0]  # it was not always kept
        model = Calibration(
            trained=np.arange(len(trained)),
            values=_column(trained, "value"),
            rest=np.arange(len(trained), len(trained) + len(rows)),
            **{name: _column(rows, name) for name in ("predicted", "low", "high", "rank")},
            untrained=_column(rows, "untrained", missing=-np.inf),
            untrained_rank=_column(rows, "untrained_rank"),
            skill=_skill(plain["held_out"]),
            held_out=np.array([_column(trained, name) for name in ("predicted", "low", "high")]),
            untrained_of_trained=np.array(beside) if known else None,
            coverage=float(plain["coverage"]["asked"]),
            folds=int(plain["coverage"]["folds"]),
            proxies=tuple(map(str, plain["proxies"])),
            constant=tuple(map(str, plain["constant"])),
            failed={str(name): int(one["n"]) for name, one in plain["failed"].items()},
            direction=direction_of(plain["direction"]),
            seed=int(plain["seed"]),
            bootstrap=int(asked["bootstrap"]),
        )
        name = str(plain["target"])
        return CalibratedTable(
            model,
            [str(row["architecture"]) for row in (*trained, *rows)],
            np.concatenate([model.values, _column(rows, "truth", missing=np.nan)]),
            Target(str(plain.get("metric", name)), "", UNKNOWN, len(trained), (), name),
            str(plain["untrained"]),
            str(plain["space"]),
            None if plain["task"] is None else Task.from_json(plain["task"]),
            int(plain["parts"]),
            {str(key): {str(why): int(n) for why, n in one["reasons"].items()} for key, one in plain["failed"].items()},
            asked,
            dict(plain["environment"]),
            where,
        )


def _unordered(plain: Mapping[str, Any]) -> list[Any]:
    """The predictions in the order in which they were made, where that was kept: resamples depend on it."""
    rows = list(plain["predictions"])
    places = plain.get("places", list(range(len(rows))))
    if sorted(places) != list(range(len(rows))):
        raise ValueError("places that are not those of the predictions")
    return [row for _, row in sorted(zip(places, rows, strict=True), key=lambda pair: pair[0])]


def _scores(path: Path, settings: BenchSettings, names: Sequence[str]) -> tuple[list[str], Array]:
    """Texts, and for each the table's number and the values of every proxy under every seed; NaN where there is none."""
    head, *rows = csv.reader(io.StringIO(read_text(path), newline=""))
    seeds = settings.seeds
    expected = [f"{name}#{seed}" if len(seeds) > 1 else name for name in names for seed in seeds]
    if head != ["architecture", settings.target, *expected] or not rows or not names:
        raise ValueError("its columns are not those of the bench")
    numbers = np.array([[float(cell) if cell else np.nan for cell in row[1:]] for row in rows], dtype=np.float64)
    if not np.isfinite(numbers[:, 0]).all():
        raise ValueError("an architecture without its number")
    return [row[0] for row in rows], numbers


def _matrix(name: str, told: Mapping[str, Any], values: Array) -> ScoreMatrix:
    """The scores of a proxy; of each single one only its value was kept, so the time is the mean and a status is a guess."""
    reasons = Counter({str(why): int(many) for why, many in told["reasons"].items()})
    seconds = np.full(values.shape, number(told["seconds"], missing=None))
    statuses = np.where(np.isnan(values), "failed", "ok")
    return ScoreMatrix(name, direction_of(told["direction"]), values, statuses, seconds, reasons)


def _skill(plain: Mapping[str, Any]) -> Skill:
    columns = {
        name: {statistic: _estimate(plain[name][statistic]) for statistic in ("spearman", "kendall")}
        for name in ("model", "untrained", "gain")
    }
    return Skill(**columns, covered=_estimate(plain["covered"]), n=int(plain["n"]))


def _estimate(plain: Mapping[str, Any]) -> Estimate:
    value, low, high = (number(plain[name], missing=np.nan) for name in ("value", "low", "high"))
    return Estimate(value, low, high, int(plain["n"]))


def _column(rows: Sequence[Mapping[str, Any]], name: str, missing: float | None = None) -> Array:
    return np.array([number(row[name], missing) for row in rows], dtype=np.float64)

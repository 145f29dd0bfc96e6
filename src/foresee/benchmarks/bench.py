"""Bench: sample a table, score the sample, and see how well each proxy foresees the measured numbers.

    found = bench("nb201.csv.gz", "test_acc_cifar10", ["dextr"], sample=1000, out="runs/b")
    found.correlations["dextr"].spearman        # with a 95 % interval; "params", "macs" and "random" are always there

Repeat r scores under seed + r: weights, draws and batch of its own. A merit is the mean over repeats; an architecture on
which one repeat failed is a failure. Stopped and called again, it goes on: every score is in the cache when it is made.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee import data as data_room
from foresee.benchmarks import tasks
from foresee.benchmarks.cache import Cache
from foresee.benchmarks.scoring import ScoreMatrix, scored
from foresee.benchmarks.statistics import TOP, Correlations, correlate, spearman
from foresee.benchmarks.table import Table, load
from foresee.data import Data
from foresee.errors import InputError, RunError
from foresee.proxies.score import names_of
from foresee.runs.environment import environment
from foresee.runs.events import Observer
from foresee.runs.folder import RunFolder, write_whole
from foresee.seeds import derive
from foresee.spaces.base import Space
from foresee.task import Task

__all__ = ["BASELINES", "Bench", "BenchSettings", "ScoreMatrix", "bench", "sampled", "scored"]

#: what every proxy has to beat
BASELINES = ("params", "macs", "random")
#: a cache that all benches of a user share
CACHE_VARIABLE = "FORESEE_CACHE"
CACHE, RESULT, CORRELATIONS, SCORES = "scores.sqlite", "bench.json", "correlations.csv", "scores.csv"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BenchSettings:
    """All that decides the numbers of a bench; engine, workers, cache and folder do not.

    `table` is the file and `table_sha256` its digest; `sample` None means every architecture with the target.
    """

    space: str
    table: str
    table_sha256: str
    target: str
    proxies: tuple[str, ...]
    space_settings: Mapping[str, Any] = field(default_factory=dict)
    proxy_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sample: int | None = 1000
    seed: int = 0
    repeats: int = 1
    data: str = "digits"
    inputs: tuple[int, ...] = ()
    outputs: int = 0
    batch_size: int | None = None
    threads: int = 1
    device: str = "cpu"
    bootstrap: int = 1000
    top: tuple[int | float, ...] = TOP

    def __post_init__(self) -> None:
        for name in ("sample", "repeats", "batch_size", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} = {value}: at least 1 is needed")

    @property
    def task(self) -> Task:
        """What the networks were built for."""
        return Task(self.inputs, self.outputs)

    @property
    def seeds(self) -> list[int]:
        """One for each repeat."""
        return [self.seed + repeat for repeat in range(self.repeats)]

    def to_json(self) -> dict[str, Any]:
        """Plain values, in the order of the fields; what is not set is left out."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return {
            key: list(value) if isinstance(value, tuple) else value for key, value in plain.items() if value is not None
        }


@dataclass(frozen=True, eq=False)
class Bench:
    """What a bench found. Arrays are aligned with `texts`, the sampled architectures in the order they were drawn.

    `truth` are the table's numbers, better in `direction`; `of` is how many architectures of the table have the target.
    """

    settings: BenchSettings
    texts: Sequence[str]
    truth: Floats
    direction: str
    of: int
    matrices: Mapping[str, ScoreMatrix]
    correlations: Mapping[str, Correlations]
    looked_at: str
    notes: tuple[str, ...] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def scores(self) -> dict[str, Floats]:
        """By proxy, merits (n, repeats); NaN where the proxy failed."""
        return {name: matrix.merits for name, matrix in self.matrices.items()}

    @property
    def statuses(self) -> dict[str, Counter[str]]:
        """By proxy, how often each status came."""
        return {name: Counter(matrix.statuses.ravel().tolist()) for name, matrix in self.matrices.items()}

    @property
    def seconds(self) -> dict[str, float]:
        """By proxy, the mean time of one score; a look that several share is in the time of the first that takes it."""
        return {name: float(matrix.seconds.mean()) for name, matrix in self.matrices.items()}

    @property
    def cached(self) -> dict[str, int]:
        """By proxy, how many scores were known before."""
        return {name: matrix.cached for name, matrix in self.matrices.items()}

    @property
    def truth_merit(self) -> Floats:
        """The table's numbers turned so that more is better."""
        return self.truth if self.direction == "higher" else -self.truth

    @cached_property
    def by_repeat(self) -> dict[str, list[float]]:
        """By proxy, Spearman's correlation of each single repeat, over the architectures it scored."""
        return {
            name: [_spearman(column, self.truth_merit) for column in m.merits.T] for name, m in self.matrices.items()
        }

    def to_json(self) -> dict[str, Any]:
        """Everything but the single scores, as plain values."""
        return {
            "settings": self.settings.to_json(),
            "n": len(self.texts),
            "of": self.of,
            "direction": self.direction,
            "looked_at": self.looked_at,
            "notes": list(self.notes),
            "environment": dict(self.environment),
            "proxies": {name: self._proxy_json(name) for name in self.matrices},
        }

    def _proxy_json(self, name: str) -> dict[str, Any]:
        matrix = self.matrices[name]
        return {
            "baseline": name in BASELINES,
            "direction": matrix.direction,
            "seconds": self.seconds[name],
            "statuses": dict(self.statuses[name]),
            "reasons": dict(matrix.reasons.most_common()),
            "spearman_by_repeat": [None if np.isnan(value) else value for value in self.by_repeat[name]],
            **self.correlations[name].to_json(),
        }

    # -- files --------------------------------------------------------------------------------------------------------
    def correlations_csv(self) -> str:
        """One row for each proxy and statistic: proxy, statistic, value, low, high, n, failed."""
        rows: list[list[Any]] = [["proxy", "baseline", "statistic", "value", "low", "high", "n", "failed"]]
        for name, found in self.correlations.items():
            versions = [("", found)] + ([(" with failures last", found.with_failures)] if found.with_failures else [])
            for suffix, one in versions:
                for statistic, estimate in one.named().items():
                    numbers = [_cell(value) for value in (estimate.value, estimate.low, estimate.high)]
                    rows.append([name, int(name in BASELINES), statistic + suffix, *numbers, estimate.n, found.failed])
        return _csv(rows)

    def scores_csv(self) -> str:
        """One row for each architecture: its number in the table, and each proxy's value under each seed (empty: none)."""
        seeds, names = self.settings.seeds, list(self.matrices)
        head = [f"{name}#{seed}" if len(seeds) > 1 else name for name in names for seed in seeds]
        values = np.concatenate([self.matrices[name].values for name in names], axis=1)
        rows = zip(self.texts, self.truth, values, strict=True)
        body = [[text, repr(float(truth)), *map(_cell, row)] for text, truth, row in rows]
        return _csv([["architecture", self.settings.target, *head], *body])

    def write(self, folder: str | Path) -> Path:
        """Write `bench.json`, `correlations.csv`, `scores.csv` and `settings.toml` into a folder."""
        there = RunFolder(folder)
        there.path.mkdir(parents=True, exist_ok=True)
        there.write_settings(self.settings.to_json())
        write_whole(there.path / CORRELATIONS, self.correlations_csv())
        write_whole(there.path / SCORES, self.scores_csv())
        return write_whole(there.path / RESULT, json.dumps(self.to_json(), indent=2, default=str) + "\n")


def bench(
    table: Table | str | Path,
    target: str,
    proxies: str | Sequence[str] = ("foresee",),
    *,
    sample: int | None = 1000,
    seed: int = 0,
    repeats: int = 1,
    data: str | Data = "digits",
    space: str | Space[Any] | None = None,
    space_settings: Mapping[str, Any] | None = None,
    proxy_settings: Mapping[str, Mapping[str, Any]] | None = None,
    inputs: Sequence[int] | None = None,
    outputs: int | None = None,
    batch_size: int | None = None,
    threads: int = 1,
    device: str = "cpu",
    bootstrap: int = 1000,
    top: Sequence[int | float] = TOP,
    out: str | Path | None = None,
    engine: str = "serial",
    workers: int | None = None,
    cache: Cache | str | Path | None = None,
    observers: Iterable[Observer] = (),
) -> Bench:
    """How well proxies foresee a column of a table, beside params, macs and random.

    Args:
        table: a `Table`, or a file that `benchmarks.load` reads.
        target: what was measured, such as `test_acc_cifar10`.
        proxies: names, variants, wildcards.
        sample: architectures to score, the first so many of a permutation that the seed draws; None for all.
        seed: decides the sample, and with the repeat the weights, draws and batches.
        repeats: initialisations, draws and batches to average over.
        data: what proxies look at; images are fitted to the task's size.
        space: the space, where the table does not know it.
        space_settings: settings of the space, on top of the benchmark's own (`benchmarks.tasks`).
        proxy_settings: by proxy, settings that differ from the defaults.
        inputs: shape of one sample; by default that of the benchmark's task.
        outputs: outputs of the networks; by default those of the benchmark's task.
        batch_size: samples per batch; by default what each proxy needs.
        threads: torch threads per worker.
        device: where networks are scored.
        bootstrap: resamples for the intervals.
        top: foremost architectures to compare, as numbers or shares.
        out: folder for the results, and for the cache unless another is named.
        engine: `serial` or `processes`; the result is the same.
        workers: processes to use; by default one per core.
        cache: scores already computed; by default the file $FORESEE_CACHE names, else `scores.sqlite` in `out`.
        observers: called with an `Event` for each architecture scored.
    """
    if isinstance(table, Table):
        known = table
    else:  # the path as it was typed leads back to the file; the table itself only remembers its name
        known = replace(load(table, space=space if isinstance(space, str) else None), source=str(table))
    wanted = known.target(target)
    made, settings_of_space, task, notes = _networks(known, wanted.task, space, space_settings, inputs, outputs, data)
    looked_at = data_room.load(data, task=task) if isinstance(data, str) else data
    settings = BenchSettings(
        space=made if isinstance(made, str) else made.name,
        table=known.source,
        table_sha256=known.sha256,
        target=target,
        proxies=tuple(dict.fromkeys([*names_of(proxies), *BASELINES])),
        space_settings=settings_of_space,
        proxy_settings={name: dict(own) for name, own in (proxy_settings or {}).items()},
        sample=sample,
        seed=seed,
        repeats=repeats,
        data=data if isinstance(data, str) else f"given:{data.fingerprint}",
        inputs=task.inputs,
        outputs=task.outputs,
        batch_size=batch_size,
        threads=threads,
        device=device,
        bootstrap=bootstrap,
        top=tuple(top),
    )
    values = known.values(target)
    places = sampled(values, sample, seed)
    texts = [known.architectures[place] for place in places]
    with ExitStack() as stack:
        folder = _hold(out, stack)
        matrices = scored(
            made,
            texts,
            settings.proxies,
            task=task,
            space_settings=settings_of_space,
            proxy_settings=settings.proxy_settings,
            seeds=settings.seeds,
            data=looked_at,
            batch_size=batch_size,
            threads=threads,
            device=device,
            engine=engine,
            workers=workers,
            cache=_cache(cache, folder),
            observers=observers,
        )
        truth = values[places]
        merits = truth if wanted.direction == "higher" else -truth
        found = Bench(
            settings,
            texts,
            truth,
            wanted.direction,
            int(np.isfinite(values).sum()),
            matrices,
            {name: correlate(m.merit, merits, bootstrap=bootstrap, seed=seed, top=top) for name, m in matrices.items()},
            _describe(looked_at, settings),
            notes,
            environment(device=device, data_fingerprint=looked_at.fingerprint, task=task.to_json()),
            folder,
        )
        if folder is not None:
            found.write(folder)
        return found


def sampled(values: Floats, sample: int | None, seed: int) -> NDArray[np.int64]:
    """Places of the sample: the first `sample` of a permutation, drawn by the seed, of those that have a value."""
    measured = np.flatnonzero(np.isfinite(values))
    if len(measured) < 2:
        raise InputError(f"{len(measured)} architectures have this target: at least 2 are needed")
    return np.random.default_rng(derive(seed, "sample")).permutation(measured)[:sample]


def _networks(
    table: Table,
    task_name: str,
    space: str | Space[Any] | None,
    space_settings: Mapping[str, Any] | None,
    inputs: Sequence[int] | None,
    outputs: int | None,
    data: str | Data,
) -> tuple[str | Space[Any], dict[str, Any], Task, tuple[str, ...]]:
    """Space, its settings and the task: the benchmark's own, with what was asked for instead, and remarks about them."""
    name = space.name if isinstance(space, Space) else space or table.space
    if not name:
        raise InputError(f"{table.source or 'the table'} does not say of which space it is: name the space")
    if table.space and table.space != name:
        raise InputError(f"space {name}: {table.source or 'the table'} is of {table.space}")
    notes: list[str] = []
    if name in tasks.NETWORKS:
        task, settings = tasks.of(name, task_name)
        notes += [tasks.remark(name)] if tasks.remark(name) else []
    else:
        task = data_room.load(data).task if isinstance(data, str) else data.task
        settings = {}
    own = Task(tuple(inputs or task.inputs), outputs or task.outputs)
    if own != task and name in tasks.NETWORKS:
        shapes = [f"{'x'.join(map(str, one.inputs))} to {one.outputs}" for one in (own, task)]
        notes.append(f"networks for {shapes[0]}, where the benchmark's are for {shapes[1]}")
    if space_settings:
        said = ", ".join(f"{key} = {value}" for key, value in space_settings.items())
        notes.append(f"networks with settings that were asked for: {said}")
    if isinstance(space, Space):
        return space, space.settings(), own, tuple(notes)
    return name, {**settings, **table.space_settings, **(space_settings or {})}, own, tuple(notes)


def _hold(out: str | Path | None, stack: ExitStack) -> Path | None:
    """The folder to write to, held by this process."""
    if out is None:
        return None
    folder = RunFolder(out)
    if folder.exists:
        raise RunError(f"{folder.path} holds a search: choose another --out")
    folder.hold()
    stack.callback(folder.release)
    return folder.path


def _cache(cache: Cache | str | Path | None, folder: Path | None) -> Cache | str | Path | None:
    if cache is not None:
        return cache
    shared = os.environ.get(CACHE_VARIABLE)
    return shared or (None if folder is None else folder / CACHE)


def _describe(data: Data, settings: BenchSettings) -> str:
    """What was looked at, in words."""
    shape = "x".join(map(str, settings.inputs))
    embedded = {"digits": " (embedded, not the benchmark's images)", "synthetic": " (noise, no images)"}
    size = f", batches of {settings.batch_size}" if settings.batch_size else ""
    return f"{data.name}{embedded.get(settings.data, '')} at {shape}{size}, {data.fingerprint}"


def _spearman(merits: Floats, truths: Floats) -> float:
    valid = np.isfinite(merits)
    return spearman(merits[valid], truths[valid])


def _cell(value: float) -> str:
    return repr(float(value)) if np.isfinite(value) else ""


def _csv(rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()

"""The run of a bench.

Repeat r scores under seed + r: weights, draws and batch of its own. A merit is the mean over repeats; an architecture on
which one repeat failed is a failure. Stopped and called again, it goes on: every score is in the cache when it is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee import data as data_room
from foresee.benchmarks.benches.result import Bench, Floats
from foresee.benchmarks.benches.settings import BASELINES, BenchSettings
from foresee.benchmarks.folder import cache_for, hold
from foresee.benchmarks.formats import load
from foresee.benchmarks.networks import networks_of
from foresee.benchmarks.table import Table
from foresee.data import Data
from foresee.errors import InputError
from foresee.runs.environment import environment
from foresee.runs.events import Observer
from foresee.runs.progress import watched
from foresee.scoring.cache import Cache
from foresee.scoring.many import asked_settings, parsed, scored
from foresee.scoring.settings import ScoringSettings
from foresee.seeds import derive
from foresee.spaces.base import Space
from foresee.spaces.find import get
from foresee.statistics import TOP, correlate

#: with fewer architectures than this, resampling them tells little about others
FEW = 20


def bench(
    table: Table | str | Path,
    target: str,
    proxies: str | Sequence[str] | ScoringSettings = ("foresee",),
    *,
    sample: int | None = 1000,
    data: str | Data | None = None,
    space: str | Space[Any] | None = None,
    space_settings: Mapping[str, Any] | None = None,
    bootstrap: int = 1000,
    top: Sequence[int | float] = TOP,
    out: str | Path | None = None,
    engine: str = "serial",
    workers: int | None = None,
    cache: Cache | str | Path | None = None,
    observers: Iterable[Observer] = (),
    progress: bool = False,
    **scoring: Any,
) -> Bench:
    """How well proxies foresee a column of a table, beside params, macs and random.

    Args:
        table: a `Table`, or a file that `benchmarks.load` reads.
        target: what was measured, such as `test_acc_cifar10`.
        proxies: names, variants, wildcards; or whole `ScoringSettings`. The seed decides the sample too; a repeat is an
            initialisation, draw and batch of its own; inputs and outputs are those of the benchmark's task by default.
        sample: architectures to score, the first so many of a permutation that the seed draws; None for all.
        data: what proxies look at, a name, a path or a `Data`; images are fitted to the task's size.
        space: the space, where the table does not know it.
        space_settings: settings of the space, on top of the benchmark's own (`benchmarks.tasks`).
        bootstrap: resamples for the intervals.
        top: foremost architectures to compare, as numbers or shares.
        out: folder for the results, and for the cache unless another is named.
        engine: `serial` or `processes`; the result is the same.
        workers: processes to use; by default one per core.
        cache: scores already computed; by default the file $FORESEE_CACHE names, else `scores.sqlite` in `out`.
        observers: called with an `Event` for each architecture scored.
        progress: show how far it is, in one line; also in a notebook.
        **scoring: any field of `ScoringSettings`: seed, repeats, inputs, outputs, batch_size, threads, device, ...
    """
    # The path as it was typed leads back to the file; the table itself only remembers its name.
    known = table if isinstance(table, Table) else replace(load(table, space=space), source=str(table))
    wanted = known.target(target)
    asked = asked_settings(proxies, {**scoring, **({"data": data} if isinstance(data, str) else {})})
    given = data if isinstance(data, Data) else None
    made, settings_of_space, task, notes = networks_of(known, wanted.task, space, space_settings, asked, given)
    looked_at = given or data_room.load(asked.data, task=task)
    settings = BenchSettings(
        space=made if isinstance(made, str) else made.name,
        table=known.source,
        table_sha256=known.sha256,
        target=target,
        scoring=replace(
            asked,
            proxies=tuple(dict.fromkeys([*asked.proxies, *BASELINES])),
            data=asked.data if given is None else f"given:{given.fingerprint}",
            inputs=task.inputs,
            outputs=task.outputs,
        ),
        space_settings=settings_of_space,
        sample=sample,
        bootstrap=bootstrap,
        top=tuple(top),
    )
    values = known.values(target)
    places = sampled(values, sample, asked.seed)
    texts = [known.architectures[place] for place in places]
    truth = values[places]
    if np.ptp(truth) == 0:
        raise InputError(f"all {len(truth)} architectures have {target} {truth[0]:g}: there is no order to foresee")
    if bootstrap and len(texts) < FEW:
        notes = (*notes, f"{len(texts)} architectures are few: the intervals themselves are rough")
    parsed(get(made, **settings_of_space) if isinstance(made, str) else made, texts, known.source)
    with ExitStack() as stack:
        folder = hold(out, stack)
        matrices = scored(
            made,
            texts,
            settings.scoring,
            space_settings=settings_of_space,
            data=looked_at,
            engine=engine,
            workers=workers,
            cache=cache_for(cache, folder),
            observers=watched(observers, progress),
            warm=None if folder is None else folder / "warmup",
        )
        merits = truth if wanted.direction == "higher" else -truth
        telling = [k for k in top if k < len(texts)]  # the foremost ten of ten are all
        found = Bench(
            settings,
            texts,
            truth,
            wanted.direction,
            int(np.isfinite(values).sum()),
            matrices,
            {
                name: correlate(matrix.merit, merits, bootstrap=bootstrap, seed=asked.seed, top=telling)
                for name, matrix in matrices.items()
            },
            _describe(looked_at, settings),
            notes,
            environment(device=asked.device, data_fingerprint=looked_at.fingerprint, task=task.to_json()),
            folder,
        )
        if folder is not None:
            found.write(folder)
        return found


def sampled(values: Floats, sample: int | None, seed: int) -> NDArray[np.int64]:
    """Places of the sample: the first `sample` of a permutation, drawn by the seed, of those that have a value."""
    measured = np.flatnonzero(np.isfinite(values))
    if len(measured) < 2:
        many = "1 architecture has" if len(measured) == 1 else "no architecture has"
        raise InputError(f"{many} this target: at least 2 are needed")
    return np.random.default_rng(derive(seed, "sample")).permutation(measured)[:sample]


def _describe(data: Data, settings: BenchSettings) -> str:
    """What was looked at, in words."""
    shape = "x".join(map(str, settings.task.inputs))
    embedded = {"digits": " (embedded, not the benchmark's images)", "synthetic": " (noise, no images)"}
    size = f", batches of {settings.scoring.batch_size}" if settings.scoring.batch_size else ""
    scoring = settings.scoring
    warm = f", after a warm-up of {scoring.warmup}" if scoring.warms else ""
    return f"{data.name}{embedded.get(settings.scoring.data, '')} at {shape}{size}{warm}, {data.fingerprint}"

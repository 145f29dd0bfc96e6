"""A contest: several searchers on one table, each under several seeds, judged by a column that none of them sees.

Every run is a search as any other, in a folder of its own that is named after all that decides it. So a contest that is
killed goes on where it was, runs that are there are not done again, and more seeds, searchers or evaluations extend it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from foresee import data as data_room
from foresee.benchmarks.contest.columns import usual_judge, usual_target
from foresee.benchmarks.contest.entries import entries_of
from foresee.benchmarks.contest.ground import Ground
from foresee.benchmarks.contest.result import Contest
from foresee.benchmarks.contest.settings import ContestSettings
from foresee.benchmarks.folder import cache_for, hold
from foresee.benchmarks.formats import load
from foresee.benchmarks.networks import networks_of
from foresee.benchmarks.table import Table
from foresee.budgets import Limit, Limits
from foresee.data import Data
from foresee.runs.environment import environment
from foresee.runs.events import Observer
from foresee.runs.progress import watched
from foresee.scoring.many import asked_settings
from foresee.spaces.base import Space
from foresee.spaces.find import get


def compare(
    table: Table | str | Path,
    searchers: str | Sequence[str],
    *,
    judge: str | None = None,
    target: str | None = None,
    proxy: str = "foresee",
    seeds: int = 10,
    budget: int = 100,
    budgets: Iterable[Limit] = (),
    data: str | Data = "digits",
    space: str | Space[Any] | None = None,
    space_settings: Mapping[str, Any] | None = None,
    searcher_settings: Mapping[str, Mapping[str, Any]] | None = None,
    out: str | Path | None = None,
    engine: str = "serial",
    workers: int | None = None,
    cache: str | Path | None = None,
    observers: Iterable[Observer] = (),
    progress: bool = False,
    **scoring: Any,
) -> Contest:
    """How near to a table's best several searchers come, over evaluations and over time.

    Args:
        table: a `Table`, or a file that `benchmarks.load` reads.
        searchers: who takes part: `random`, `evolution@measured`, `evolution(population=10)@dextr`, ...; what follows the @
            is what is followed, `measured` or a proxy. `benchmarks.contest.entries` has the whole spelling.
        judge: the column that picks are judged by, such as `test_acc_cifar10`; by default the longest training's test column.
        target: the column that those see who follow `measured`, such as `val_acc_cifar10@12`; by default the shortest
            training's validation column. Of a longer training the shorter ones are there too, for searchers that look at
            many cheaply first. The others see nothing of the table.
        proxy: what is followed by those who do not say.
        seeds: runs of each searcher; run r has the seed + r.
        budget: candidates that a searcher may propose; one that proposes fewer by itself stops there.
        budgets: hard limits such as `fs.budgets.params < 1e6`; regret is then to the best that meets them.
        data: what proxies look at, a name, a path or a `Data`; images are fitted to the task's size.
        space: the space, where the table does not know it.
        space_settings: settings of the space, on top of the benchmark's own.
        searcher_settings: settings by searcher, or by name of an entry.
        out: folder for the results and the runs; what is there already is not done again.
        engine: `serial` or `processes`; the result is the same.
        workers: processes to use; by default one per core.
        cache: file of scores that searchers ask for beside their candidates; by default `scores.sqlite` in `out`.
        observers: called with an `Event` for each candidate.
        progress: show how far it is, in one line; also in a notebook.
        **scoring: any field of `ScoringSettings`: seed, inputs, outputs, batch_size, threads, device, proxy_settings, ...
    """
    # The path as it was typed leads back to the file; the table itself only remembers its name.
    known = table if isinstance(table, Table) else replace(load(table, space=space), source=str(table))
    judged = known.target(judge) if judge is not None else usual_judge(known)
    entries = entries_of(searchers, proxy, searcher_settings)
    seen = None
    if any(one.measured for one in entries):
        seen = known.target(target) if target is not None else usual_target(known, judged)
    asked = asked_settings([proxy], {**scoring, **({"data": data} if isinstance(data, str) else {})})
    given = data if isinstance(data, Data) else None
    made, settings_of_space, task, notes = networks_of(known, judged.task, space, space_settings, asked, given)
    looked_at = given or data_room.load(asked.data, task=task)
    settings = ContestSettings(
        space=made if isinstance(made, str) else made.reference,
        table=known.source,
        table_sha256=known.sha256,
        judge=judge or judged.name,
        target=None if seen is None else target or seen.name,
        searchers=tuple(map(str, entries)),
        scoring=replace(
            asked,
            data=asked.data if given is None else f"given:{given.fingerprint}",
            inputs=task.inputs,
            outputs=task.outputs,
        ),
        space_settings=settings_of_space,
        limits=Limits(budgets).to_json(),
        seeds=seeds,
        budget=budget,
    )
    found = get(made, **settings_of_space) if isinstance(made, str) else made
    if seen is not None and seen.name == judged.name:
        notes = (
            *notes,
            f"{judged.name} is what picks are judged by, and those who follow measured see it: no honest test",
        )
    with ExitStack() as stack:
        folder = hold(out, stack)
        ground = Ground(
            settings,
            known,
            found,
            looked_at,
            folder,
            engine,
            workers,
            cache_for(cache, folder),
            watched(observers, progress),
        )
        truth = ground.truth(task)
        trials = ground.play()
        contest = Contest(
            settings,
            truth,
            tuple(trials),
            notes,
            environment(device=asked.device, data_fingerprint=looked_at.fingerprint, task=task.to_json()),
            folder,
        )
        if folder is not None:
            contest.write(folder)
        return contest

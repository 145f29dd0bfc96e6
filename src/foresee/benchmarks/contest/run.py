"""A contest: several searchers on one table, each under several seeds, judged by a column that none of them sees.

Every run is a search as any other, in a folder of its own that is named after all that decides it. So a contest that is
killed goes on where it was, runs that are there are not done again, and more seeds, searchers or evaluations extend it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from foresee import data as data_room
from foresee.benchmarks.contest.entries import Entry, entries_of
from foresee.benchmarks.contest.progress import Overall
from foresee.benchmarks.contest.result import Contest, Truth
from foresee.benchmarks.contest.settings import ContestSettings
from foresee.benchmarks.contest.trial import Trial, trial_of
from foresee.benchmarks.folder import cache_for, hold
from foresee.benchmarks.formats import load
from foresee.benchmarks.measuring import Measuring
from foresee.benchmarks.networks import networks_of
from foresee.benchmarks.table import Table, Target
from foresee.budgets import QUANTITIES, Costs, Limit, Limits
from foresee.data import Data
from foresee.errors import InfeasibleError, InputError, SearchError
from foresee.runs.environment import environment
from foresee.runs.events import Observer
from foresee.runs.folder import RunFolder, read
from foresee.runs.progress import watched
from foresee.runs.record import Record
from foresee.scoring.many import asked_settings, parsed
from foresee.scoring.scorer import Scorer
from foresee.searchers.base import make, searchers
from foresee.searchers.problem import Levels, Problem, objectives_of
from foresee.searchers.run import Run
from foresee.searchers.search import run_search
from foresee.searchers.settings import EXTENDABLE, SearchSettings
from foresee.spaces.base import Space
from foresee.spaces.find import get
from foresee.task import Task

#: where the runs are, in the folder of the contest
RUNS = "runs"
#: beginnings of the names of what was measured for judging, and for deciding
JUDGED, SEEN = ("test",), ("val", "valid")


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
        ground = _Ground(
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
        trials = ground.play(task)
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


def usual_judge(table: Table) -> Target:
    """What picks are judged by where nobody says: the test column of the longest training."""
    found = _columns(table, JUDGED)
    if not found:
        raise InputError(f"say what picks are judged by (--judge): {', '.join(one.name for one in table.targets())}")
    first = found[0].metric, found[0].task
    return max((one for one in found if (one.metric, one.task) == first), key=lambda one: one.epochs)


def usual_target(table: Table, judged: Target) -> Target:
    """What is seen where nobody says: of the judged task, the validation column of the shortest training."""
    found = [one for one in _columns(table, SEEN) if one.task == judged.task]
    if not found:
        names = ", ".join(one.name for one in table.targets())
        raise InputError(f"say what those see who follow measured (--target), best no column that judges: {names}")
    return min((one for one in found if one.metric == found[0].metric), key=lambda one: one.epochs)


def _columns(table: Table, beginnings: Sequence[str]) -> list[Target]:
    """Accuracies come first, then all that is better higher, then the rest."""
    found = [one for one in table.targets() if one.metric.split("_")[0] in beginnings]
    return sorted(found, key=lambda one: ("acc" not in one.metric, one.direction == "lower"))


@dataclass
class _Ground:
    """Where a contest takes place: the table, what is looked at, and how the work is done."""

    settings: ContestSettings
    table: Table
    space: Space[Any]
    data: Data
    folder: Path | None
    engine: str
    workers: int | None
    cache: Any
    observers: list[Observer]

    def truth(self, task: Task) -> Truth:
        """What the judged column holds, of the architectures that meet the limits."""
        judge, limits = self.table.target(self.settings.judge), Limits.from_json(self.settings.limits)
        values = self.table.values(self.settings.judge)
        places = np.flatnonzero(np.isfinite(values))
        if limits:
            dear = [name for name in limits.quantities if QUANTITIES[name].level]
            if dear:
                raise InputError(f"limit on {dear[0]}: not known of all architectures of a table; limit params or macs")
            texts = [self.table.architectures[int(place)] for place in places]
            costs = [Costs(self.space, one, task) for one in parsed(self.space, texts, self.table.source)]
            places = places[[not limits.miss(one) for one in costs]]
            if not len(places):
                raise InfeasibleError(f"no architecture of {self.table.source or 'the table'} meets {limits}")
        column = values[places]
        first = int(places[np.argmax(column) if judge.direction == "higher" else np.argmin(column)])
        return Truth(
            judge.direction,
            float(values[first]),
            self.table.architectures[first],
            len(places),
            int(np.isfinite(values).sum()),
            float(np.median(column)),
        )

    def play(self, task: Task) -> Iterator[Trial]:
        """Every searcher under every seed; all of them are made once before the first one starts."""
        judge = Measuring(self.table, self.settings.judge, self.space)
        seen, entries = self._seen(), self.settings.entries
        for entry in entries:
            self._check(entry, seen)
        seeds = [self.settings.scoring.seed + number for number in range(self.settings.seeds)]
        overall = Overall(self.observers, sum(entry.spends(self.settings.budget) for entry in entries) * len(seeds))
        # Seed by seed: whoever stops a contest in the middle has some runs of everybody.
        for seed in seeds:
            for entry in entries:
                most = entry.spends(self.settings.budget)
                asked = self._search(entry, seed)
                where = None if self.folder is None else self._folder(entry, asked, seen)
                record, reason = self._record(asked, where, seen if entry.measured else None, overall, entry.label)
                yield self._judged(trial_of(entry.label, seed, record, most, judge, reason), judge)
                overall.finish(most)

    def _seen(self) -> Levels | None:
        """What those see who follow what was measured: the target, and where its metric was also measured after fewer epochs
        that, for searchers that look at many cheaply first.
        """
        if self.settings.target is None:
            return None
        target = self.table.target(self.settings.target)
        shorter = [
            one
            for one in self.table.targets()
            if (one.metric, one.task) == (target.metric, target.task) and one.epochs < target.epochs
        ]
        names = [one.name for one in sorted(shorter, key=lambda one: one.epochs)]
        return Levels({name: Measuring(self.table, name, self.space) for name in [*names, self.settings.target]})

    @staticmethod
    def _judged(trial: Trial, judge: Measuring) -> Trial:
        """With numbers as the table has them: a search is told losses turned."""
        picks = (replace(one, judged=None if one.judged is None else judge.shown(one.judged)) for one in trial.picks)
        return replace(trial, picks=tuple(picks))

    def _search(self, entry: Entry, seed: int) -> SearchSettings:
        """The search of an entry under a seed."""
        look = self.settings.scoring
        own = {name: values for name, values in look.proxy_settings.items() if name in entry.proxies}
        return SearchSettings(
            space=self.settings.space,
            space_settings=self.settings.space_settings,
            scoring=replace(look, proxies=entry.proxies, proxy_settings=own, seed=seed),
            objectives=entry.objectives,
            searcher=entry.searcher,
            searcher_settings=entry.settings,
            limits=self.settings.limits,
            evaluations=entry.spends(self.settings.budget),
            finalists=0,
        )

    def _check(self, entry: Entry, seen: Levels | None) -> None:
        """Make a searcher for nothing: what is wrong with it is said before anything is begun."""
        asked = self._search(entry, self.settings.scoring.seed)
        scorer = Scorer(self.space, asked.scoring, data=self.data)
        limits, objectives = Limits.from_json(asked.limits), objectives_of(asked.objectives, scorer)
        problem = Problem(scorer, limits, objectives, asked.evaluations, measure=seen if entry.measured else None)
        make(entry.searcher, problem, entry.settings)
        scorer.check()

    def _folder(self, entry: Entry, asked: SearchSettings, seen: Levels | None) -> Path:
        """Where a run is kept: a name to recognise it by, and a digest of all that decides it but its length."""
        free = [] if searchers[entry.searcher].by_total else list(EXTENDABLE)
        facts = {key: value for key, value in asked.to_json().items() if key not in (*free, "seed")}
        known = [self.data.fingerprint, seen.fingerprint if entry.measured and seen else ""]
        digest = hashlib.sha256(json.dumps([facts, known], sort_keys=True, default=str).encode()).hexdigest()[:8]
        name = re.sub(r"[^\w.-]+", "-", f"{entry.searcher}-{'-'.join(entry.follows)}")
        assert self.folder is not None
        return self.folder / RUNS / f"{name}-{digest}" / f"seed-{asked.scoring.seed}"

    def _record(
        self, asked: SearchSettings, where: Path | None, seen: Levels | None, overall: Overall, label: str
    ) -> tuple[Record, str]:
        """The run, done now or before, and why it was given up, where it was."""
        before = _finished(where)
        if before is not None and int(before.settings.get("evaluations", 0)) >= asked.evaluations:
            return before, ""
        try:
            run = run_search(
                asked,
                out=where,
                resume=where is not None,
                engine=self.engine,
                workers=self.workers,
                observers=[overall.watching(f"{label}, seed {asked.scoring.seed}")],
                space=self.space,
                data=self.data,
                measured=seen,
                cache=self.cache,
            )
        except SearchError as error:  # nearly all of its candidates failed: it has lost, and the others go on
            given_up = Record("search", "failed", 0.0, asked.to_json(), {})
            return given_up if where is None else read(where), str(error)
        return run.record, ""


def _finished(where: Path | None) -> Record | None:
    """A run that is there and done; None where there is something to do."""
    if where is None or not RunFolder(where).exists:
        return None
    record = Run.open(where).record
    return record if record.status == "finished" else None

"""Where a contest takes place: runs in their folders, begun, gone on with or read, and what the table says of their picks."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from foresee.benchmarks.contest.columns import shorter
from foresee.benchmarks.contest.entries import Entry
from foresee.benchmarks.contest.progress import Overall
from foresee.benchmarks.contest.result import Truth
from foresee.benchmarks.contest.settings import ContestSettings
from foresee.benchmarks.contest.trial import Trial, trial_of
from foresee.benchmarks.measuring import Measuring
from foresee.benchmarks.table import Table
from foresee.budgets import QUANTITIES, Costs, Limits
from foresee.data import Data
from foresee.errors import InfeasibleError, InputError, SearchError
from foresee.runs.events import Observer
from foresee.runs.folder import RunFolder, read
from foresee.runs.record import Record
from foresee.scoring.many import parsed
from foresee.scoring.scorer import Scorer
from foresee.searchers.base import make, searchers
from foresee.searchers.problem import Levels, Problem, objectives_of
from foresee.searchers.search import run_search
from foresee.searchers.settings import EXTENDABLE, SearchSettings
from foresee.spaces.base import Space
from foresee.task import Task

#: where the runs are, in the folder of the contest
RUNS = "runs"


@dataclass
class Ground:
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

    def play(self) -> Iterator[Trial]:
        """Every searcher under every seed; all of them are made once before the first one starts.

        Seed by seed: whoever stops a contest in the middle has some runs of everybody.
        """
        seen, entries = self._seen(), self.settings.entries
        for entry in entries:
            self._check(entry, seen)
        first = self.settings.scoring.seed
        runs = [self._run(entry, first + number, seen) for number in range(self.settings.seeds) for entry in entries]
        judge = Measuring(self.table, self.settings.judge, self.space)
        done = {place: _judged(run, record, "", judge) for place, run in enumerate(runs) if (record := run.done())}
        kept = sum(runs[place].asked.evaluations for place in done)
        overall = Overall(self.observers, sum(run.asked.evaluations for run in runs), kept)
        for place, run in enumerate(runs):
            if place in done:
                yield done[place]
                continue
            record, reason = self._play(run, overall)
            yield _judged(run, record, reason, judge)
            overall.finish(run.asked.evaluations)

    def _seen(self) -> Levels | None:
        """What those see who follow what was measured: the target, and where its metric was also measured after fewer epochs
        that, for searchers that look at many cheaply first.
        """
        name = self.settings.target
        if name is None:
            return None
        levels = [*(one.name for one in shorter(self.table, self.table.target(name))), name]
        return Levels({level: Measuring(self.table, level, self.space) for level in levels})

    def _run(self, entry: Entry, seed: int, seen: Levels | None) -> _Run:
        asked, handed = self._search(entry, seed), seen if entry.measured else None
        return _Run(entry, asked, handed, None if self.folder is None else self._folder(entry, asked, handed))

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
        known = [self.data.fingerprint, seen.fingerprint if seen else ""]
        digest = hashlib.sha256(json.dumps([facts, known], sort_keys=True, default=str).encode()).hexdigest()[:8]
        name = re.sub(r"[^\w.-]+", "-", f"{entry.searcher}-{'-'.join(entry.follows)}")
        assert self.folder is not None
        return self.folder / RUNS / f"{name}-{digest}" / f"seed-{asked.scoring.seed}"

    def _play(self, run: _Run, overall: Overall) -> tuple[Record, str]:
        """The record of a run that is begun or gone on with, and why it was given up, where it was."""
        before = run.begun()
        # one that was stopped on its way to more goes on there
        many = max(run.asked.evaluations, int(before.settings["evaluations"]) if before else 0)
        try:
            found = run_search(
                replace(run.asked, evaluations=many),
                out=run.where,
                resume=run.where is not None,
                engine=self.engine,
                workers=self.workers,
                observers=[overall.watching(f"{run.entry.label}, seed {run.asked.scoring.seed}")],
                space=self.space,
                data=self.data,
                measured=run.seen,
                cache=self.cache,
            )
        except SearchError as error:  # nearly all of its candidates failed: it has lost, and the others go on
            given_up = Record("search", "failed", 0.0, run.asked.to_json(), {})
            return run.begun() or given_up, str(error)
        return found.record, ""


@dataclass(frozen=True)
class _Run:
    """One searcher under one seed: the search that is asked for, what it may see of the table, and where it is kept."""

    entry: Entry
    asked: SearchSettings
    seen: Levels | None
    where: Path | None

    def begun(self) -> Record | None:
        """What is there of it."""
        return read(self.where) if self.where is not None and RunFolder(self.where).exists else None

    def done(self) -> Record | None:
        """What is there, where nothing is left to do."""
        record = self.begun()
        long = record is not None and int(record.settings["evaluations"]) >= self.asked.evaluations
        return record if record is not None and long and record.status == "finished" else None


def _judged(run: _Run, record: Record, reason: str, judge: Measuring) -> Trial:
    """What a run found, with numbers as the table has them: a search is told losses turned."""
    trial = trial_of(run.entry.label, run.asked.scoring.seed, record, run.asked.evaluations, judge, reason)
    picks = (replace(one, judged=None if one.judged is None else judge.shown(one.judged)) for one in trial.picks)
    return replace(trial, picks=tuple(picks))

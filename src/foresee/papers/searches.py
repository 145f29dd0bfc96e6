"""Searches of the papers, run again: what a searcher picks under several seeds, judged by a table.

A search sees of the table what `seen` names (validation results after a short training), or nothing at all. What its picks
are judged by is looked up when all of them are made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foresee.benchmarks import tasks
from foresee.benchmarks.measuring import Measuring
from foresee.papers.cells import Cell, Unavailable
from foresee.papers.samples import Floats, benchmark, choose
from foresee.papers.workshop import Workshop
from foresee.searchers.problem import MEASURED
from foresee.searchers.run import Run
from foresee.searchers.search import search
from foresee.spaces.find import get
from foresee.statistics import Estimate


@dataclass(frozen=True)
class Picks:
    """What was picked, seed by seed, and what the table has of it: NaN where it does not hold the pick.

    `curves` are the same after each candidate, (seeds, candidates); `runs` the searches themselves, `judge` the table.
    """

    texts: Sequence[str]
    values: Floats
    curves: Floats
    runs: Sequence[Run] = ()
    judge: Measuring | None = None

    @property
    def over_steps(self) -> Floats:
        """What the table has of the answer that each step would have given, (seeds, steps): of searches that say it."""
        named = [
            [row.outcome["architecture"] for row in run.record.steps if _answers(row.outcome)] for run in self.runs
        ]
        assert self.judge is not None
        return np.array([[_shown(self.judge, value) for value in self.judge(texts)] for texts in named], float)

    @property
    def missing(self) -> int:
        """How many picks the table does not hold."""
        return int(np.isnan(self.values).sum())

    @property
    def words(self) -> str:
        """What has to be said beside their mean."""
        return f"{self.missing} of {len(self.texts)} picks are not in the table" if self.missing else ""

    def cell(self, row: str, column: str, workshop: Workshop, *, error: bool = False) -> Cell:
        """The mean over the seeds as a cell, of accuracies or of errors in per cent."""
        known = self.values[~np.isnan(self.values)]
        if not len(known):
            return Cell.missing(row, column, self.words)
        values = 100 - known if error else known
        if len(values) == 1:
            value = float(values[0])
            return Cell(row, column, Estimate(value, np.nan, np.nan, 1), self.words)
        return Cell(row, column, workshop.mean(values), self.words)


def picks(
    workshop: Workshop,
    name: str,
    searcher: str,
    settings: Mapping[str, Any] | None = None,
    *,
    seen: str = "",
    proxies: Sequence[str] = ("params",),
    evaluations: int | None = None,
    space_settings: Mapping[str, Any] | None = None,
    seeds: int | None = None,
) -> Picks:
    """The picks of a searcher on a benchmark, under as many seeds as the workshop repeats (or `seeds`).

    Args:
        workshop: tables, data, device and seed.
        name: the benchmark, as its columns are called.
        searcher: who looks.
        settings: of the searcher; the workshop's own are put on top.
        seen: the target whose values the search follows; "" for one that follows the first of the `proxies`.
        proxies: what candidates are scored by.
        evaluations: candidates; by default as many as the searcher usually proposes.
        space_settings: on top of the benchmark's own.
        seeds: searches.
    """
    about = benchmark(name)
    workshop.check_asked(name)
    table, target = choose(workshop.known_tables, about.space, about.targets)
    task, own = tasks.of(about.space, about.task)
    network = {**table.space_settings, **own, **(space_settings or {}), **workshop.space_settings.get(about.space, {})}
    space = get(about.space, **network)
    judge = Measuring(table, target, space)
    asked: dict[str, Any] = {
        "proxies": list(proxies),
        "searcher": searcher,
        "searcher_settings": {**(settings or {}), **workshop.searcher_settings.get(searcher, {})},
        "objectives": [MEASURED] if seen else [],
        "evaluations": evaluations,
        "space_settings": network,
        "data": workshop.looked_at(),
        "inputs": task.inputs,
        "outputs": task.outputs,
        "batch_size": workshop.batch_size,
        "threads": workshop.threads,
        "device": workshop.device,
        "finalists": 0,
    }
    runs = []
    for seed in range(workshop.seed, workshop.seed + (seeds or workshop.repeats)):
        run = search(
            about.space,
            **asked,
            seed=seed,
            measured=Measuring(table, seen, space) if seen else None,
            out=folder(workshop, "searches", [about.space, {**asked, "seed": seed, "seen": seen}]),
            resume=True,
            engine=workshop.engine,
            workers=workshop.workers,
            observers=workshop.observers,
        )
        runs.append(run)
    followed = [_followed(run) for run in runs]
    longest = max(map(len, followed))
    judged = {text: value for texts in followed for text, value in zip(texts, judge(texts), strict=True)}
    curves = [[judged[text] for text in [*texts, *texts[-1:] * (longest - len(texts))]] for texts in followed]
    values = np.array([[_shown(judge, value) for value in row] for row in curves], float)
    return Picks([texts[-1] for texts in followed], values[:, -1], values, runs, judge)


def _answers(outcome: Any) -> bool:
    """Whether a step says which architecture would be the answer after it."""
    return isinstance(outcome.get("architecture"), str)


def _shown(judge: Measuring, value: float | None) -> float:
    """As the table has it; NaN where it has nothing."""
    return np.nan if value is None else judge.shown(value)


def _followed(run: Run) -> list[str]:
    """The best so far after each candidate, by what the search followed; from the first that has a value on."""
    best, found = -np.inf, list[str]()
    for row in run.record.candidates:
        if row.merit is not None and row.merit > best:
            best = row.merit
            found.append(row.architecture)
        elif found:
            found.append(found[-1])
    if not found:
        why = next((row.reason for row in run.record.candidates), "none was proposed")
        raise Unavailable(f"no candidate of the search has a score: {why}")
    return found


def folder(workshop: Workshop, kind: str, asked: Any) -> Path | None:
    """Where work of these settings is kept, beside the scores that are; None where nothing is."""
    if workshop.cache is None:
        return None
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()[:16]
    return workshop.cache.parent / kind / digest

"""What a reproduction works with: samples of the benchmarks at hand, and scores that are computed once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from foresee.benchmarks import tasks
from foresee.benchmarks.benches import sampled as places_of
from foresee.benchmarks.table import Table
from foresee.errors import RunError
from foresee.papers.asked import Asked, Coefficient, Measured
from foresee.papers.cells import Cell, Unavailable
from foresee.papers.samples import Floats, Sample, benchmark, choose, has, precomputed, tables_in
from foresee.proxies.base import get as get_proxy
from foresee.runs import engines
from foresee.runs.events import Announcer, Event, Observer
from foresee.scoring.many import scored
from foresee.scoring.scorer import Scorer
from foresee.scoring.settings import ScoringSettings
from foresee.statistics import Correlations, Estimate, correlate, mean_of
from foresee.task import Task

#: architectures per benchmark where neither the table nor the user says otherwise, as in Dextr's tables
SAMPLE = 1000
#: the reason of a cell that a run leaves out by choice
NOT_ASKED = "not asked for in this run (--benchmark, --row)"


@dataclass
class Workshop:
    """Where a reproduction works. It finds tables by their content, draws the sample, and scores each architecture once.

    Args:
        tables: folder with tables, in any form that `foresee.benchmarks.table.load` reads.
        sample: architectures per benchmark; 0 for all; None for what each table takes by itself: 1000, or fewer where a
            number is expensive.
        seed: decides sample, weights and draws; repeat r looks with seed + r.
        repeats: runs to average over.
        data: what the proxies look at, in the shape of each benchmark's images; None for the embedded digits.
        schema: what the columns of a click log are, where the data is one: a name or a file.
        batch_size: at most so many samples per batch, for a quick look; None for as many as the paper took.
        threads: torch threads per worker.
        bootstrap: resamples behind an interval.
        benchmarks: those whose numbers are asked for, by the names their columns have; none named: all.
        rows: likewise the rows, of tables whose rows are proxies.
        space_settings: by space, settings on top of what a paper used (thinner networks for a quick look).
        searcher_settings: likewise by searcher (fewer steps, a pool that was scored before).
        table_settings: likewise of the table itself (fewer steps of a training), where it has some.
        cache: file of scores already computed, shared by all tables.
        observers: called with an `Event` for each architecture scored.
        notes: what has to be said beside the table; filled on the way.
    """

    tables: Path | None = None
    sample: int | None = None
    seed: int = 0
    repeats: int = 1
    data: str | None = None
    schema: str | None = None
    batch_size: int | None = None
    threads: int = 1
    bootstrap: int = 1000
    benchmarks: Sequence[str] = ()
    rows: Sequence[str] = ()
    space_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    searcher_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    table_settings: Mapping[str, Any] = field(default_factory=dict)
    engine: str = "serial"
    workers: int | None = None
    device: str = "cpu"
    cache: Path | None = None
    observers: Iterable[Observer] = ()
    notes: list[str] = field(default_factory=list)
    _correlations: dict[bytes, Correlations] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for name in self.benchmarks:
            benchmark(name)

    def note(self, text: str) -> None:
        """Say something beside the table, once."""
        if text not in self.notes:
            self.notes.append(text)

    def settings(self) -> dict[str, Any]:
        """What decides the numbers, as plain values."""
        named = ("sample", "seed", "repeats", "data", "schema", "batch_size", "bootstrap", "device")
        asked = {"benchmarks": list(self.benchmarks), "rows": list(self.rows)}
        own = ("space_settings", "searcher_settings", "table_settings")
        return {key: getattr(self, key) for key in named} | asked | {key: dict(getattr(self, key)) for key in own}

    def own(self, usual: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a table: the paper's, with what was asked for in their place, which is said beside it."""
        changed = {key: value for key, value in self.table_settings.items() if value != usual[key]}
        if changed:
            said = ", ".join(f"{key} = {value} where it usually is {usual[key]}" for key, value in changed.items())
            self.note(f"other settings: {said}")
        return {**usual, **changed}

    # -- samples ------------------------------------------------------------------------------------------------------
    def check_asked(self, name: str) -> None:
        """Raise `Unavailable` for a benchmark that was not asked for."""
        if self.benchmarks and name not in self.benchmarks:
            raise Unavailable(NOT_ASKED)

    @cached_property
    def known_tables(self) -> list[Table]:
        """Every table at hand."""
        if self.tables is None:
            raise Unavailable("no tables: give the folder they are in with --tables")
        return tables_in(self.tables)

    def sampled(
        self, name: str, *, size: int | None = None, everyone: bool = False, targets: Sequence[str] = ()
    ) -> Sample:
        """The sample of a benchmark.

        `size` is how many a table takes where no sample was asked for, `everyone` is for the whole table, `targets` where a
        paper took other accuracies than the benchmark's test accuracies, best first.
        """
        about = benchmark(name)
        self.check_asked(name)
        wanted = targets or about.targets
        table, target = choose(self.known_tables, about.space, wanted)
        if target != wanted[0]:
            self.note(f"{name}: accuracies are {target}; no table at hand has {wanted[0]}")
        count = SAMPLE if size is None else size
        if self.sample is not None:
            count = self.sample
        values = table.values(target)
        places = places_of(values, None if everyone else count or None, self.seed)
        texts = [table.architectures[place] for place in places]
        return Sample(name, about.space, about.task, target, texts, values[places], table)

    # -- scores -------------------------------------------------------------------------------------------------------
    def measure(self, sample: Sample, asked: Mapping[str, Asked]) -> dict[str, Measured]:
        """Every proxy over the sample, by the names given to them; what the cache knows is not computed again.

        Proxies that look at the same networks with the same batches are scored together and share their looks.
        """
        together: dict[str, dict[str, Asked]] = {}
        for name, one in asked.items():
            alike = [other for other in asked.values() if other.proxy == one.proxy]
            apart = one.settings if any(other.settings != one.settings for other in alike) else {}
            key = repr((self._size(one), sorted(one.space_settings.items()), one.data, sorted(apart.items())))
            together.setdefault(key, {})[name] = one
        found = {name: value for group in together.values() for name, value in self._scored(sample, group).items()}
        return {name: found[name] for name in asked}

    def _scored(self, sample: Sample, group: Mapping[str, Asked]) -> dict[str, Measured]:
        """Proxies that want the same networks and batches."""
        like = next(iter(group.values()))
        task, settings = self._network(sample, like.space_settings)
        asked = ScoringSettings(
            proxies=tuple(dict.fromkeys(one.proxy for one in group.values())),
            proxy_settings={one.proxy: one.settings for one in group.values()},
            data=like.data or self.looked_at(),
            batch_size=self._size(like),
            repeats=self.repeats,
            seed=self.seed,
            threads=self.threads,
            device=self.device,
        )
        found = scored(
            sample.space,
            sample.texts,
            asked,
            task=task,
            space_settings=settings,
            engine=self.engine,
            workers=self.workers,
            cache=self.cache,
            observers=self.observers,
        )
        return {
            name: Measured(matrix.values.T, matrix.direction, matrix.reasons)
            for name, one in group.items()
            for matrix in [found[one.proxy]]
        }

    def _size(self, asked: Asked) -> int | None:
        """Samples per batch: what the paper took, unless the workshop allows fewer."""
        wanted = asked.batch_size or get_proxy(asked.proxy).needs.batch
        if self.batch_size is None or wanted <= self.batch_size:
            return asked.batch_size
        self.note(f"batches of at most {self.batch_size} samples, where the paper takes more")
        return self.batch_size

    def looked_at(self) -> str:
        """What the proxies look at; said beside the table where that is not the benchmark's images."""
        if self.data is None:
            self.note("the proxies look at the embedded digits, not at the benchmark's images: give those with --data")
        return self.data or "digits"

    def _network(self, sample: Sample, changes: Mapping[str, Any]) -> tuple[Task, dict[str, Any]]:
        """The task and the settings of the space: the benchmark's, the paper's, and the workshop's own on top."""
        own = self.space_settings.get(sample.space, {})
        if own:
            said = ", ".join(f"{key} = {value}" for key, value in own.items())
            self.note(f"{sample.space}: other networks than the paper's, with {said}")
        if tasks.remark(sample.space):
            self.note(f"{sample.benchmark}: {tasks.remark(sample.space)}")
        task, settings = tasks.of(sample.space, sample.task)
        return task, {**sample.table.space_settings, **settings, **changes, **own}

    def scorer(
        self,
        sample: Sample,
        proxies: Sequence[str] = ("params",),
        *,
        settings: Mapping[str, Mapping[str, Any]] | None = None,
        batch_size: int | None = None,
        network: Mapping[str, Any] | None = None,
    ) -> Scorer:
        """A scorer of the sample's networks under the first seed; `settings` are the proxies', `network` is as in `Asked`."""
        task, space_settings = self._network(sample, network or {})
        asked = ScoringSettings(
            proxies=tuple(proxies),
            proxy_settings=settings or {},
            batch_size=batch_size,
            seed=self.seed,
            data=self.looked_at(),
            inputs=task.inputs,
            outputs=task.outputs,
            threads=self.threads,
            device=self.device,
        )
        return Scorer(sample.space, asked, space_settings=space_settings)

    def each(
        self, sample: Sample, look: Callable[..., Any], network: Mapping[str, Any] | None = None, **more: Any
    ) -> list[Any]:
        """`look(scorer, text, **more)` of every architecture of the sample, for looks that are no proxy.

        `look` is a function of a module, so that workers find it; nothing is cached. `network` is as in `Asked`.
        """
        scorer = self.scorer(sample, network=network)
        announce = Announcer(self.observers)
        results: list[Any] = [None] * len(sample)
        with engines.make(self.engine, _Look(scorer, look, more), self.workers) as engine:
            for job, text in enumerate(sample.texts):
                engine.submit(job, text)
            for done in range(len(sample)):
                outcome = engine.wait()
                if outcome.error is not None:
                    raise RunError(f"{sample.texts[outcome.job]}: {outcome.error}")
                results[outcome.job] = outcome.value
                announce(Event("scored", done + 1, len(sample), outcome.job))
        return results

    # -- numbers ------------------------------------------------------------------------------------------------------
    def correlation(self, measured: Measured, truth: Floats, coefficient: Coefficient = "spearman") -> Estimate:
        """The mean over repeats of the correlation with the truth; an architecture without a value is ranked last.

        Pearson, which knows no ranks, leaves those out. The same resamples serve all repeats, so the ends of their
        intervals are averaged too.
        """
        found = []
        for merits in measured.merits:
            key = merits.tobytes() + truth.tobytes()  # Spearman and Kendall come from one set of resamples
            if key not in self._correlations:
                self._correlations[key] = correlate(merits, truth, bootstrap=self.bootstrap, seed=self.seed, top=())
            valid = self._correlations[key]
            found.append(getattr(valid if coefficient == "pearson" else valid.with_failures or valid, coefficient))
        return Estimate.mean(found)

    def cell(
        self, row: str, column: str, measured: Measured, truth: Floats, coefficient: Coefficient = "spearman"
    ) -> Cell:
        """The correlation as a cell of a table, with what went wrong beside it."""
        return Cell(row, column, self.correlation(measured, truth, coefficient), measured.words)

    def context(self, sample: Sample, asked: Asked, measured: Measured, coefficient: Coefficient) -> str:
        """What else is known of a cell, in words: the other accuracies of the same networks, the values of other people.

        The first tells how much the choice of accuracies matters, the second tells our networks, data and code from theirs.
        """
        words, about = [], benchmark(sample.benchmark)
        judged = sample.table.target(sample.target)
        for target in about.targets:
            if has(sample.table, target) and sample.table.target(target) != judged:
                truth = sample.table.values(target)[[sample.table.find(text) for text in sample.texts]]
                words.append(f"{self.point(measured, truth, coefficient):.2f} with {target}")
        words.append(self.by_others(sample, [asked.proxy], coefficient))
        return "; ".join(filter(None, words))

    def by_others(
        self, sample: Sample, proxies: Sequence[str], coefficient: Coefficient, *, unsigned: Collection[str] = ()
    ) -> str:
        """The correlation with the accuracies (of two proxies, between them) of values a table brought along, in words.

        `unsigned` are proxies whose values count without their sign.
        """
        plain = [proxy.partition(":")[0] for proxy in proxies]
        target = sample.target if len(plain) == 1 else ""
        found = precomputed(self.known_tables, benchmark(sample.benchmark), plain, target)
        if found is None:
            return ""
        first, second = (
            np.abs(values) if name in unsigned else values
            for name, values in zip([*plain, target], found, strict=False)
        )
        value = self.point(Measured(first[None]), second, coefficient)
        return f"{value:.2f} by the values in the table, n = {len(first)}"

    def point(self, measured: Measured, truth: Floats, coefficient: Coefficient) -> float:
        """A correlation without its interval."""
        return replace(self, bootstrap=0).correlation(measured, truth, coefficient).value

    def mean(self, values: Floats) -> Estimate:
        """The mean of some numbers with its 95 % bootstrap interval."""
        return mean_of(values, bootstrap=self.bootstrap, seed=self.seed)


class _Look:
    """A look as the work of an engine: picklable, each worker prepares its own data."""

    def __init__(self, scorer: Scorer, look: Callable[..., Any], more: Mapping[str, Any]) -> None:
        self.scorer, self.look, self.more = scorer, look, more
        self.device = scorer.device

    def __call__(self, text: str) -> Any:
        return self.look(self.scorer, text, **self.more)

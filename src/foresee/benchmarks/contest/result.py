"""What a contest found: who came how near to the table's best, over evaluations and time, and the files it is kept in."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from foresee.benchmarks.contest.entries import Entry
from foresee.benchmarks.contest.settings import ContestSettings
from foresee.benchmarks.contest.trial import Pick, Trial
from foresee.errors import UnknownNameError
from foresee.grid import Bad, Column, Grid, Shown, frame
from foresee.lazy import find
from foresee.quantities import format_seconds
from foresee.runs.folder import RunFolder, write_whole
from foresee.statistics import Estimate, mean_of_few

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

RESULT, PICKS, CURVES = "compare.json", "picks.csv", "curves.csv"


@dataclass(frozen=True)
class Truth:
    """What the judged column holds: the best of it, which way is better, and how many of its architectures may be picked."""

    direction: str
    best: float
    architecture: str
    feasible: int
    of: int
    median: float

    def regret(self, judged: float | None) -> float:
        """How far a number is from the best, NaN where there is none."""
        if judged is None:
            return float("nan")
        return self.best - judged if self.direction == "higher" else judged - self.best


@dataclass(frozen=True)
class Curve:
    """Mean regret with its 95 % interval (Student's, over seeds) wherever it changes: a number of evaluations, or seconds.

    It stays as it is from one point to the next, and is NaN where the table holds no pick.
    """

    at: tuple[float, ...]
    regret: tuple[Estimate, ...]


@dataclass(frozen=True)
class Standing:
    """How a searcher did at the end: means over its runs, of those whose pick the table holds.

    `spread` is the standard deviation of the judged numbers over the runs; `absent` is the share of runs whose pick the
    table does not hold; `failed` are the runs that were given up, or ended without a pick.
    """

    entry: Entry
    judged: Estimate
    spread: float
    regret: Estimate
    evaluations: float
    seconds: float
    absent: float
    runs: int
    failed: int

    @property
    def label(self) -> str:
        """The name of the entry."""
        return self.entry.label


@dataclass(frozen=True, eq=False, repr=False)
class Contest(Shown):
    """What a contest found. `trials` are its runs, seed by seed."""

    settings: ContestSettings
    truth: Truth
    trials: tuple[Trial, ...]
    notes: tuple[str, ...] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None

    @cached_property
    def runs(self) -> dict[str, list[Trial]]:
        """The runs of each searcher, in order of seeds."""
        return {
            entry.label: [one for one in self.trials if one.label == entry.label] for entry in self.settings.entries
        }

    @property
    def reasons(self) -> list[tuple[str, int, str]]:
        """Which runs were given up, and why: searcher, seed, reason."""
        return [(one.label, one.seed, one.reason) for one in self.trials if one.reason]

    # -- curves -------------------------------------------------------------------------------------------------------
    def over_evaluations(self, label: str) -> Curve:
        """Mean regret over the evaluations, up to the budget: a run that ends before keeps its pick."""
        return self._curve(self._of(label), lambda pick: pick.evaluations, self.settings.budget)

    def over_time(self, label: str) -> Curve:
        """Mean regret over the seconds that a run has worked, its steps included, up to the end of the longest run."""
        trials = self._of(label)
        return self._curve(trials, lambda pick: pick.seconds, max((one.seconds for one in trials), default=0.0))

    def _curve(self, trials: Sequence[Trial], spent: Callable[[Pick], float], last: float) -> Curve:
        """From where every run has a pick; a mean is over those whose pick the table holds."""
        begun = [one for one in trials if one.picks]
        first = max((spent(one.picks[0]) for one in begun), default=last)
        corners = {spent(pick) for one in begun for pick in one.picks}
        at = sorted({first, max(first, last), *(corner for corner in corners if corner > first)}) if begun else []
        regrets = [[self.truth.regret(_at(one.picks, spent, x)) for one in begun] for x in at]
        known = [
            (x, [value for value in values if not math.isnan(value)]) for x, values in zip(at, regrets, strict=True)
        ]
        return Curve(tuple(x for x, _ in known), tuple(mean_regret(values) for _, values in known))

    def _of(self, label: str) -> list[Trial]:
        if label not in self.runs:
            raise UnknownNameError("searcher of this comparison", label, self.runs)
        return self.runs[label]

    # -- the end ------------------------------------------------------------------------------------------------------
    @cached_property
    def standings(self) -> dict[str, Standing]:
        """By searcher, how it did; the least regret first, those without one last."""
        found = [self._standing(entry) for entry in self.settings.entries]
        return {one.label: one for one in sorted(found, key=lambda one: (np.isnan(one.regret.value), one.regret.value))}

    def _standing(self, entry: Entry) -> Standing:
        trials = self.runs[entry.label]
        picks = [one.pick for one in trials if one.pick is not None]
        values = [pick.judged for pick in picks if pick.judged is not None]
        return Standing(
            entry,
            mean_of_few(values),
            float(np.std(values, ddof=1)) if len(values) > 1 else float("nan"),
            mean_regret([self.truth.regret(value) for value in values]),
            float(np.mean([one.evaluations for one in trials])),
            float(np.mean([one.seconds for one in trials])),
            1 - len(values) / len(picks) if picks else 0.0,
            len(trials),
            len(trials) - len(picks),
        )

    # -- what people see ----------------------------------------------------------------------------------------------
    def to_frame(self) -> pandas.DataFrame:
        """A row for each run: its pick, the pick's number, its regret, evaluations and seconds. Needs pandas."""
        return frame(self._rows(), index="run")

    def plot(self) -> Figure:
        """Mean regret over evaluations and over time, with 95 % intervals, as a matplotlib figure."""
        drawn: Figure = find("foresee.report.plots", "of_contest")(self)
        return drawn

    def __str__(self) -> str:
        return str(self._grid())

    def __repr__(self) -> str:
        asked = self.settings
        return f"<Contest on {asked.space}, {asked.judge}: {len(self.runs)} searchers, {asked.seeds} seeds>"

    def _grid(self) -> Grid:
        columns = [Column("searcher", words=True)]
        columns += map(Column, (self.settings.judge, "regret", "evaluations", "time", "not in the table"))
        rows = [
            [
                one.label,
                in_words(one.judged.value, one.spread),
                f"{one.regret}",
                f"{one.evaluations:g}",
                format_seconds(one.seconds),
                f"{100 * one.absent:.3g} %" if not one.failed else Bad(f"{one.failed} given up"),
            ]
            for one in self.standings.values()
        ]
        asked, truth = self.settings, self.truth
        said = f"best of {truth.feasible:,}: {truth.best:g}; {asked.seeds} seeds, budget {asked.budget}"
        return Grid(
            columns, rows, f"{asked.space} · {asked.judge}", [f"{said}; in brackets 95 % intervals", *self.notes]
        )

    # -- files --------------------------------------------------------------------------------------------------------
    def to_json(self) -> dict[str, Any]:
        """Everything, as plain values; the standings are there for people, and are computed again when it is read."""
        truth = {name: getattr(self.truth, name) for name in Truth.__dataclass_fields__}
        return {
            "settings": self.settings.to_json(),
            "table": truth,
            "notes": list(self.notes),
            "environment": dict(self.environment),
            "standings": {
                label: {
                    "judged": one.judged.to_json(),
                    "spread": one.spread if np.isfinite(one.spread) else None,
                    "regret": one.regret.to_json(),
                    **{name: getattr(one, name) for name in ("evaluations", "seconds", "absent", "runs", "failed")},
                }
                for label, one in self.standings.items()
            },
            "trials": [one.to_json() for one in self.trials],
        }

    def picks_csv(self) -> str:
        """One row for each run."""
        rows = self._rows()
        return _csv([list(rows[0]) if rows else [], *(list(row.values()) for row in rows)])

    def curves_csv(self) -> str:
        """One row for each searcher and evaluation at which its mean regret changes: its interval, over how many runs."""
        rows: list[list[Any]] = [["searcher", "evaluations", "regret", "low", "high", "n"]]
        for label in self.runs:
            curve = self.over_evaluations(label)
            for at, one in zip(curve.at, curve.regret, strict=True):
                rows.append([label, int(at), *map(_cell, (one.value, one.low, one.high)), one.n])
        return _csv(rows)

    def write(self, folder: str | Path) -> Path:
        """Write `compare.json`, `picks.csv`, `curves.csv` and `settings.toml` into a folder."""
        there = RunFolder(folder)
        there.path.mkdir(parents=True, exist_ok=True)
        there.write_settings(self.settings.to_json())
        write_whole(there.path / PICKS, self.picks_csv())
        write_whole(there.path / CURVES, self.curves_csv())
        return write_whole(there.path / RESULT, json.dumps(self.to_json(), indent=1, default=str) + "\n")

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {
                "run": place,
                "searcher": one.label,
                "seed": one.seed,
                "judged": None if one.pick is None else one.pick.judged,
                "regret": None if one.pick is None or one.pick.judged is None else self.truth.regret(one.pick.judged),
                "evaluations": one.evaluations,
                "seconds": one.seconds,
                "architecture": "" if one.pick is None else one.pick.architecture,
                "reason": one.reason,
            }
            for place, one in enumerate(self.trials)
        ]


def _at(picks: Sequence[Pick], spent: Callable[[Pick], float], x: float) -> float | None:
    """The number of the pick that there was when so much was spent."""
    return next(pick.judged for pick in reversed(picks) if spent(pick) <= x)


def mean_regret(values: ArrayLike) -> Estimate:
    """The mean with Student's interval, which ends at 0: nobody is better than the best.

    >>> print(mean_regret([0.0, 0.1, 0.5]))
    0.200 [0.000, 0.857]
    """
    found = mean_of_few(values)
    return replace(found, low=max(found.low, 0.0)) if np.isfinite(found.low) else found


def in_words(mean: float, spread: float) -> str:
    """A mean and the standard deviation over runs, with as many digits as the latter gives reason for.

    >>> in_words(93.99912, 0.3125), in_words(94.37, float("nan")), in_words(94.37, 0.0)
    ('94.00 ± 0.31', '94.37', '94.37 ± 0')
    """
    if not np.isfinite(mean):
        return "–"
    if not np.isfinite(spread) or spread == 0:
        return f"{mean:.6g}" + (" ± 0" if spread == 0 else "")
    digits = int(np.clip(1 - np.floor(np.log10(spread)), 0, 8))
    return f"{mean:.{digits}f} ± {spread:.{digits}f}"


def _cell(value: float) -> str:
    return repr(float(value)) if np.isfinite(value) else ""


def _csv(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()

"""What a bench found: scores and correlations by proxy, and the files they are kept in."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from foresee.benchmarks.benches.settings import BASELINES, BenchSettings
from foresee.grid import Bad, Column, Grid, Shown, frame
from foresee.lazy import find
from foresee.quantities import format_seconds
from foresee.runs.folder import RunFolder, write_whole
from foresee.scoring.many import ScoreMatrix
from foresee.statistics import Correlations, spearman

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

RESULT, CORRELATIONS, SCORES = "bench.json", "correlations.csv", "scores.csv"

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Bench(Shown):
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

    # -- what people see ------------------------------------------------------------------------------------------------
    def to_frame(self) -> pandas.DataFrame:
        """A row for each architecture: its number in the table, and each proxy's mean value. Needs pandas."""
        means = {name: matrix.values.mean(axis=1) for name, matrix in self.matrices.items()}
        return frame(
            (
                {"architecture": text, self.settings.target: truth, **{name: mean[i] for name, mean in means.items()}}
                for i, (text, truth) in enumerate(zip(self.texts, self.truth, strict=True))
            ),
            index="architecture",
        )

    def plot(self, proxy: str | None = None) -> Figure:
        """The rank correlations with their intervals, and one proxy (the best) against the truth, as a matplotlib figure."""
        drawn: Figure = find("foresee.report.plots", "of_bench")(self, proxy)
        return drawn

    def __str__(self) -> str:
        return str(self._grid())

    def __repr__(self) -> str:
        asked = self.settings
        return (
            f"<Bench of {asked.space}, {asked.target}: {len(self.texts)} architectures, {len(self.matrices)} proxies>"
        )

    def _grid(self) -> Grid:
        columns = [Column("proxy", words=True), *map(Column, ("Spearman", "Kendall", "failed", "time"))]
        found = sorted(self.correlations.items(), key=lambda pair: -np.nan_to_num(pair[1].spearman.value, nan=-2.0))
        rows = [
            [
                f"{name} (baseline)" if name in BASELINES else name,
                str(one.spearman),
                str(one.kendall),
                Bad(one.failed) if one.failed else "0",
                format_seconds(self.seconds[name]),
            ]
            for name, one in found
        ]
        sample = f"{len(self.texts):,} of {self.of:,} architectures"
        looked = f"{sample}, looked at {self.looked_at}; in brackets 95 % intervals"
        return Grid(columns, rows, f"{self.settings.space} · {self.settings.target}", [looked, *self.notes])

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


def _spearman(merits: Floats, truths: Floats) -> float:
    valid = np.isfinite(merits)
    return spearman(merits[valid], truths[valid])


def _cell(value: float) -> str:
    return repr(float(value)) if np.isfinite(value) else ""


def _csv(rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()

"""A calibration of a table's architectures: every prediction beside what the table knows, as a table, a figure and a file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from foresee.benchmarks.calibration import Calibration, Skill
from foresee.benchmarks.rank_model import Array
from foresee.benchmarks.table import Target
from foresee.grid import Column, Grid, Shown, frame, shortened
from foresee.lazy import find
from foresee.runs.folder import write_whole
from foresee.task import Task

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

#: the file that holds a calibration, in its folder
CALIBRATION = "calibration.json"
#: predictions that a notebook shows
SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedTable(Shown):
    """A calibration with its architectures: `texts` by place, `truth` by place where the table knows it (else NaN).

    `parts` is how many kinds of parts the model saw, `task` what the networks were built for (None: the data's own).
    `reasons` says why proxies failed, for each that was scored. `settings` are all that decided the numbers.
    """

    calibration: Calibration
    texts: Sequence[str]
    truth: Array
    target: Target
    untrained: str
    space: str
    task: Task | None
    parts: int
    reasons: Mapping[str, Mapping[str, int]]
    settings: Mapping[str, Any]
    environment: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None

    @cached_property
    def check(self) -> Skill | None:
        """Predictions against what the table knows of the architectures they are of; None where that is too little."""
        known = self.truth[self.calibration.rest]
        return self.calibration.check(known) if np.isfinite(known).sum() >= 2 else None

    def rows(self) -> list[dict[str, Any]]:
        """The foreseen architectures, best first."""
        found, rows = self.calibration, []
        assert found.untrained is not None
        assert found.untrained_rank is not None
        for place in found.order.tolist():
            score = found.untrained[place]
            rows.append(
                {
                    "architecture": self.texts[found.rest[place]],
                    "predicted": float(found.predicted[place]),
                    "low": float(found.low[place]),
                    "high": float(found.high[place]),
                    "rank": _number(found.rank[place]),
                    "untrained": float(score) if np.isfinite(score) else None,
                    "untrained_rank": _number(found.untrained_rank[place]),
                    "truth": _number(self.truth[found.rest[place]]),
                }
            )
        return rows

    # -- what people see ------------------------------------------------------------------------------------------------
    def to_frame(self) -> pandas.DataFrame:
        """The foreseen architectures, best first, as `rows` has them. Needs pandas."""
        return frame(self.rows(), index="architecture")

    def plot(self) -> Figure:
        """Predicted against measured, and the untrained score beside, as a matplotlib figure."""
        drawn: Figure = find("foresee.report.plots", "of_calibration")(self)
        return drawn

    def __repr__(self) -> str:
        found = self.calibration
        of = self.space or "own architectures"
        return (
            f"<CalibratedTable of {of}, {self.target.name}: {len(found.trained)} trained, {len(found.rest)} foreseen>"
        )

    def _grid(self) -> Grid:
        columns = [Column(""), Column("architecture", words=True), Column(f"{self.target.name}, predicted")]
        columns += [Column("interval"), Column(f"place by {self.untrained}", quiet=True)]
        rows = [
            [
                f"{row['rank']:g}",
                shortened(row["architecture"]),
                f"{row['predicted']:.4g}",
                f"{row['low']:.4g} to {row['high']:.4g}",
                f"{row['untrained_rank']:g}",
            ]
            for row in self.rows()[:SHOWN]
        ]
        found = self.calibration
        title = f"{len(found.trained)} trained, {len(found.rest)} foreseen"
        return Grid(columns, rows, f"{self.space or 'own architectures'}: {title}", [found.skill.verdict])

    # -- plain values and files -----------------------------------------------------------------------------------------
    def to_json(self) -> dict[str, Any]:
        """Plain values: what was asked, how far to trust it, and every prediction."""
        found = self.calibration
        assert found.untrained_of_trained is not None
        return {
            "space": self.space,
            "task": None if self.task is None else self.task.to_json(),
            "target": self.target.name,
            "metric": self.target.metric,
            "direction": self.target.direction,
            "seed": found.seed,
            "proxies": list(found.proxies),
            "constant": list(found.constant),
            "failed": {name: {"n": n, "reasons": dict(self.reasons.get(name, {}))} for name, n in found.failed.items()},
            "parts": self.parts,
            "untrained": self.untrained,
            "coverage": {"asked": found.coverage, "guaranteed": found.guaranteed, "folds": found.folds},
            "held_out": found.skill.to_json(),
            "check": None if self.check is None else self.check.to_json(),
            "settings": dict(self.settings),
            "environment": dict(self.environment),
            "trained": [
                {
                    "architecture": self.texts[place],
                    "value": float(value),
                    "predicted": mean,
                    "low": low,
                    "high": high,
                    "untrained": float(score) if np.isfinite(score) else None,
                }
                for place, value, (mean, low, high), score in zip(
                    found.trained, found.values, found.held_out.T.tolist(), found.untrained_of_trained, strict=True
                )
            ],
            "predictions": self.rows(),
            "places": found.order.tolist(),  # of the predictions, as they were before they were put in order
        }

    def write(self, folder: str | Path) -> Path:
        """`calibration.json` and `predictions.csv` in a folder."""
        where = Path(folder)
        where.mkdir(parents=True, exist_ok=True)
        rows, text = self.rows(), io.StringIO()
        writer = csv.DictWriter(text, fieldnames=list(rows[0]) if rows else ["architecture"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_whole(where / "predictions.csv", text.getvalue())
        return write_whole(where / CALIBRATION, json.dumps(self.to_json(), indent=1, default=str) + "\n")


def _number(value: float) -> float | int | None:
    """Whole numbers without a fraction; None for what is not known."""
    if not np.isfinite(value):
        return None
    return int(value) if value == int(value) else float(value)

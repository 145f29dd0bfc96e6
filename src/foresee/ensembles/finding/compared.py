"""What a comparison of samplers says: means over seeds with intervals, paired differences, budgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from foresee.ensembles.finding.result import EnsembleRun
from foresee.ensembles.finding.shelf import Shelf
from foresee.errors import RunError
from foresee.grid import Bad, Column, Grid, Shown
from foresee.quantities import format_seconds
from foresee.statistics import Estimate, mean_of_few

#: what is compared -> its name for people, and whether it is a share that is shown in per cent; of all less is better but of
#: the last two, of which a larger gain is better and disagreement is neither good nor bad
COMPARED = {
    "error": ("error", True),
    "nll": ("nll", False),
    "calibration_error": ("calibration", False),
    "ate": ("mean of members", True),
    "best": ("best member", True),
    "gain": ("gain over it", True),
    "ppd": ("disagreement", True),
}


@dataclass(frozen=True)
class Compared:
    """One sampler under one seed: its ensemble's measures (`val`, `test`, `estimated`) and budget, or why there is none."""

    label: str
    seed: int
    sampler: str
    architectures: tuple[str, ...] = ()
    measures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether it was measured."""
        return not self.reason

    def value(self, measure: str, part: str = "test") -> float:
        """One of `COMPARED`."""
        found = self.measures[part]
        best = min(found["members"])
        own = {"best": best, "gain": best - found["error"]}
        return float(own[measure] if measure in own else found[measure])


@dataclass(frozen=True, eq=False)
class EnsembleComparison(Shown):
    """All samplers under all seeds.

    Args:
        labels: who was compared, in order.
        rows: one for each sampler and seed.
        reference: whom differences are from.
        folder: where `comparison.json` and the ensembles are kept.
    """

    labels: tuple[str, ...]
    rows: tuple[Compared, ...]
    reference: str
    folder: Path | None = None

    def of(self, label: str) -> list[Compared]:
        """The rows of one, those that were measured."""
        return [one for one in self.rows if one.label == label and one.ok]

    def mean(self, label: str, measure: str = "error", part: str = "test") -> Estimate:
        """Over seeds, with Student's 95 % interval."""
        return mean_of_few([one.value(measure, part) for one in self.of(label)])

    def difference(
        self, label: str, measure: str = "error", part: str = "test", against: str | None = None
    ) -> Estimate:
        """How much larger a measure is than the reference's, over the seeds that both have: paired."""
        theirs = {one.seed: one.value(measure, part) for one in self.of(against or self.reference)}
        return mean_of_few(
            [one.value(measure, part) - theirs[one.seed] for one in self.of(label) if one.seed in theirs]
        )

    def spent(self, label: str) -> dict[str, float]:
        """The mean budget over seeds, seconds in all."""
        found = [one.budget for one in self.of(label)]
        if not found:
            return {}
        counts = {key: fmean(float(one[key]) for one in found) for key in found[0] if key != "seconds"}
        return {**counts, "seconds": fmean(sum(one["seconds"].values()) for one in found)}

    def run(self, label: str, seed: int) -> EnsembleRun:
        """The ensemble of a sampler under a seed, from its folder."""
        if self.folder is None:
            raise RunError("compare: nothing was kept (out=...), so there is no folder to read the ensemble from")
        return EnsembleRun.load(self.folder / f"seed-{seed}" / label.replace(":", "-").replace("/", "-"))

    # -- kept ---------------------------------------------------------------------------------------------------------
    def to_json(self) -> dict[str, Any]:
        """What `comparison.json` holds: all rows, and what follows from them for reading."""
        there = [label for label in self.labels if self.of(label)]
        return {
            "labels": list(self.labels),
            "reference": self.reference,
            "rows": [asdict(one) for one in self.rows],
            "means": {one: {key: self.mean(one, key).to_json() for key in COMPARED} for one in there},
            "differences": {
                one: {key: self.difference(one, key).to_json() for key in COMPARED}
                for one in there
                if one != self.reference
            },
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], folder: Path | None = None) -> EnsembleComparison:
        """Inverse of `to_json`."""
        rows = tuple(Compared(**{**one, "architectures": tuple(one["architectures"])}) for one in plain["rows"])
        return cls(tuple(plain["labels"]), rows, plain["reference"], folder)

    @classmethod
    def load(cls, folder: str | Path) -> EnsembleComparison:
        """What was kept in a folder."""
        stored = Shelf(folder).read("comparison.json")
        if stored is None:
            raise RunError(f"{folder}: there is no comparison here (comparison.json is missing)")
        try:
            return cls.from_json(stored, Path(folder))
        except (KeyError, TypeError, AttributeError) as error:
            raise RunError(f"{folder}/comparison.json: not as a comparison leaves it ({error})") from error

    # -- shown --------------------------------------------------------------------------------------------------------
    def _grid(self) -> Grid:
        heads = [
            "test error %",
            f"minus {self.reference}'s",
            *(COMPARED[key][0] for key in ("ate", "best", "ppd", "nll")),
        ]
        columns = [Column("", words=True), *map(Column, (*heads, "networks", "epochs", "supernet", "looks", "time"))]
        rows = [self._row(label) for label in self.labels]
        seeds = len({one.seed for one in self.rows})
        failed = [f"{one.label}, seed {one.seed}: {one.reason}" for one in self.rows if not one.ok]
        note = f"means over {seeds} seeds, 95 % intervals (Student's); differences are paired by seed"
        return Grid(columns, rows, title="ensembles compared", notes=[note if seeds > 1 else "one seed", *failed])

    def _row(self, label: str) -> list[str]:
        if not self.of(label):
            return [label, Bad("failed"), *[""] * 10]
        spent = self.spent(label)
        apart = "" if label == self.reference else _shown(self.difference(label), 100, sign=True)
        shares = [f"{100 * self.mean(label, key).value:.2f}" for key in ("ate", "best", "ppd")]
        counts = [f"{spent[key]:g}" for key in ("networks", "epochs", "supernet_epochs", "evaluations")]
        nll = f"{self.mean(label, 'nll').value:.3f}"
        return [label, _shown(self.mean(label), 100), apart, *shares, nll, *counts, format_seconds(spent["seconds"])]

    def __str__(self) -> str:
        return str(self._grid())


def _shown(found: Estimate, times: float = 1.0, *, sign: bool = False) -> str:
    """A mean and half its interval.

    >>> _shown(Estimate(0.05, 0.04, 0.06, 3), 100)
    '5.00 ± 1.00'
    """
    value = f"{times * found.value:{'+' if sign else ''}.2f}"
    return value if found.half_width != found.half_width else f"{value} ± {times * found.half_width:.2f}"

"""What all trials say together: means with intervals over folds, and paired differences from the reference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from foresee.benchmarks.judging.contestants import Contestant
from foresee.benchmarks.judging.trial import Verdict
from foresee.statistics import Estimate, mean_of_few
from foresee.training.evaluations import Bin, calibration_error

#: what is judged by -> its name for people, and whether more is better
MEASURES = {
    "auc": ("AUC", True),
    "accuracy": ("accuracy", True),
    "loss": ("log loss", False),
}
#: the least and the most that each can be
ENDS: Mapping[str, tuple[float, float]] = {"auc": (0.0, 1.0), "accuracy": (0.0, 1.0), "loss": (0.0, math.inf)}


@dataclass(frozen=True)
class Standing:
    """How one contestant did.

    Args:
        contestant: who.
        means: of each measure, over folds.
        differences: of each measure, its own minus the reference's, over the same folds and seeds; empty of the reference.
        spread: of each measure, the standard deviation over seeds within a fold, averaged over folds (root mean square).
        calibration: bins of the predictions of all trials together.
        failed: trials without a verdict.
        trials: how many there were.
        seconds: mean time of a training.
        parameters: of the network, None of one that has none.
    """

    contestant: Contestant
    means: Mapping[str, Estimate]
    differences: Mapping[str, Estimate]
    spread: Mapping[str, float]
    calibration: tuple[Bin, ...]
    failed: int
    trials: int
    seconds: float
    parameters: int | None

    @property
    def label(self) -> str:
        """Its name."""
        return self.contestant.label

    @property
    def calibration_error(self) -> float | None:
        """Of all predictions together."""
        return calibration_error(self.calibration) if any(one.count for one in self.calibration) else None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "means": {key: one.to_json() for key, one in self.means.items()},
            "differences": {key: one.to_json() for key, one in self.differences.items()},
            "spread": dict(self.spread),
            "calibration_error": self.calibration_error,
            "failed": self.failed,
            "trials": self.trials,
            "seconds": self.seconds,
            "parameters": self.parameters,
        }


@dataclass(frozen=True, eq=False)
class Judged:
    """All verdicts of a judging.

    Trainings on one fold share their test rows, so they are averaged first: means, differences and their intervals
    (Student's, 95 %) are over folds. A difference compares trials of the same fold and seed only.
    """

    contestants: tuple[Contestant, ...]
    verdicts: tuple[Verdict, ...]
    asked: Mapping[str, Any]
    reference: str
    folder: Path | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """What there is to judge by, the first being what counts."""
        there = [one.test for one in self.verdicts if one.test is not None]
        known = [key for key in MEASURES if any(getattr(one, key) is not None for one in there)]
        return tuple(key for key in known if key != "accuracy" or "auc" not in known) or ("loss",)

    @cached_property
    def standings(self) -> Mapping[str, Standing]:
        """All contestants, the best first by what counts; those who have no number come last."""
        made = [self._standing(one) for one in self.contestants]
        first, higher = self.measures[0], MEASURES[self.measures[0]][1]

        def merit(one: Standing) -> float:
            value = one.means[first].value
            return -np.inf if np.isnan(value) else value if higher else -value

        return {one.label: one for one in sorted(made, key=merit, reverse=True)}

    def numbers(self, label: str, measure: str) -> dict[tuple[int, int], float]:
        """One measure of a contestant's trials, by (fold, seed)."""
        found = {}
        for one in self.verdicts:
            if one.contestant == label and one.test is not None:
                value = getattr(one.test, measure)
                if value is not None:
                    found[one.fold, one.seed] = float(value)
        return found

    def difference(self, label: str, reference: str, measure: str) -> Estimate:
        """How much larger a contestant's measure is than another's, on the trials that both have."""
        ours, theirs = self.numbers(label, measure), self.numbers(reference, measure)
        return over_folds({key: ours[key] - theirs[key] for key in ours if key in theirs})

    def _standing(self, contestant: Contestant) -> Standing:
        label = contestant.label
        mine = [one for one in self.verdicts if one.contestant == label]
        done = [one for one in mine if one.test is not None]
        numbers = {key: self.numbers(label, key) for key in self.measures}
        others = () if label == self.reference else self.measures
        return Standing(
            contestant=contestant,
            means={key: over_folds(values).within(*ENDS[key]) for key, values in numbers.items()},
            differences={key: self.difference(label, self.reference, key) for key in others},
            spread={key: within_folds(values) for key, values in numbers.items()},
            calibration=together([one.test.calibration for one in done if one.test is not None]),
            failed=len(mine) - len(done),
            trials=len(mine),
            seconds=float(np.mean([one.seconds for one in done])) if done else 0.0,
            parameters=next((one.parameters for one in done if one.parameters), None),
        )

    @property
    def reasons(self) -> list[tuple[str, int, int, str]]:
        """Contestant, fold, seed and reason of every failure."""
        return [(one.contestant, one.fold, one.seed, one.reason) for one in self.verdicts if not one.ok]

    def to_json(self) -> dict[str, Any]:
        """Plain values: what `judging.json` holds."""
        return {
            "status": "finished",
            "asked": dict(self.asked),
            "environment": dict(self.environment),
            "reference": self.reference,
            "contestants": {one.label: one.what for one in self.contestants},
            "standings": {label: one.to_json() for label, one in self.standings.items()},
            "verdicts": [one.to_json() for one in self.verdicts],
        }

    def __repr__(self) -> str:
        best = next(iter(self.standings.values()))
        key, folds = self.measures[0], self.asked["data"]["folds"]
        number = f"{MEASURES[key][0]} {best.means[key]}"
        return f"<Judged: {len(self.contestants)} on {folds} folds, {best.label} first, {number}>"


def over_folds(values: Mapping[tuple[int, int], float]) -> Estimate:
    """The mean over folds of the means over seeds, with Student's interval over folds; over seeds where there is one fold.

    >>> print(over_folds({(0, 0): 1.0, (0, 1): 3.0, (1, 0): 4.0, (1, 1): 4.0}))
    3.000 [-9.706, 15.706]
    """
    by_fold: dict[int, list[float]] = {}
    for (fold, _), value in sorted(values.items()):
        by_fold.setdefault(fold, []).append(value)
    if len(by_fold) == 1:
        return mean_of_few(next(iter(by_fold.values())))
    return mean_of_few([float(np.mean(some)) for some in by_fold.values()])


def within_folds(values: Mapping[tuple[int, int], float]) -> float:
    """The standard deviation over seeds within a fold, root mean square over folds; 0 where there is one seed.

    >>> within_folds({(0, 0): 1.0, (0, 1): 3.0, (1, 0): 4.0, (1, 1): 6.0})
    1.4142135623730951
    """
    by_fold: dict[int, list[float]] = {}
    for (fold, _), value in sorted(values.items()):
        by_fold.setdefault(fold, []).append(value)
    spreads = [float(np.var(some, ddof=1)) for some in by_fold.values() if len(some) > 1]
    return float(np.sqrt(np.mean(spreads))) if spreads else 0.0


def together(several: Sequence[Sequence[Bin]]) -> tuple[Bin, ...]:
    """The bins of several evaluations as those of all predictions in one.

    >>> together([[Bin(1, 0.2, 0.0)], [Bin(3, 0.4, 1.0)]])
    (Bin(count=4, confidence=0.35..., accuracy=0.75),)
    """
    made = []
    for bins in zip(*(some for some in several if some), strict=True):
        count = sum(one.count for one in bins)
        sure, right = (sum(one.count * getattr(one, key) for one in bins) for key in ("confidence", "accuracy"))
        made.append(Bin(count, sure / max(count, 1), right / max(count, 1)))
    return tuple(made)

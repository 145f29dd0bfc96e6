"""The foremost of a search after training, and which of them is the best."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foresee.errors import RunError
from foresee.quantities import format_seconds
from foresee.searchers.looks import Compared
from foresee.spaces.candidate import Candidate
from foresee.training.recipe import Recipe
from foresee.training.trained import Trained


@dataclass(frozen=True)
class Foremost:
    """One of the foremost: its place by the search (from 1), and what training made of it, or why it made nothing.

    `compared` is what it did on folds, where candidates were compared so; then the winner alone is `trained` in the end.
    """

    place: int
    candidate: Candidate
    trained: Trained | None
    reason: str = ""
    compared: Compared | None = None

    @property
    def merit(self) -> tuple[int, float, float] | None:
        """Higher is better: over all folds (first of all, how many it stayed for), or of the one validation; None where it
        cannot be the best.
        """
        if self.reason:
            return None
        if self.compared is not None:
            found = self.compared.merit
            return None if found is None else (len(self.compared.looks), *found)
        judged = None if self.trained is None else self.trained.validation
        return (0, 0.0, 0.0) if judged is None else (0, *judged.merit)

    @property
    def id(self) -> int:
        """The number of the candidate in its run."""
        return int(self.candidate.details["id"])

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        plain: dict[str, Any] = {"place": self.place, "id": self.id, "architecture": str(self.candidate.architecture)}
        if self.compared is not None:
            plain["compared"] = self.compared.to_json()
        if self.trained is None:
            return {**plain, **({"reason": self.reason} if self.reason else {})}
        judged = {"validation": self.trained.validation, "test": self.trained.test}
        numbers = {
            name: None if one is None else {"accuracy": one.accuracy, "loss": one.loss, "auc": one.auc}
            for name, one in judged.items()
        }
        return {**plain, **numbers, "best_epoch": self.trained.best_epoch, "seconds": self.trained.seconds}


@dataclass(frozen=True)
class TrainedBest:
    """The foremost of a run after training; `best` is the one that validation names."""

    recipe: Recipe
    foremost: tuple[Foremost, ...]
    folder: Path | None = None

    @property
    def best(self) -> Foremost:
        """The best by validation; of equal ones, and without validation, the one that the search put first."""
        there = self.ranked
        if not there:
            reasons = "; ".join(f"candidate {one.id}: {one.reason}" for one in self.foremost)
            raise RunError(f"none of the {len(self.foremost)} foremost could be trained: {reasons}")
        return there[0]

    @property
    def ranked(self) -> list[Foremost]:
        """All that can be the best, best first."""
        there = [(one.merit, one) for one in self.foremost]
        found = [(merit, one) for merit, one in there if merit is not None]
        return [one for _, one in sorted(found, key=lambda pair: (pair[0], -pair[1].place), reverse=True)]

    @property
    def said(self) -> str:
        """How the winner was chosen, in words; "" where that was one validation part."""
        ranked = self.ranked
        if not ranked or ranked[0].compared is None:
            return ""
        first, looks = ranked[0].compared, ranked[0].compared.looks
        folds, seeds = len({one.fold for one in looks}), len({one.seed for one in looks})
        where = "the validation rows" if looks[0].fold is None else f"{folds} folds of all rows but the test's"
        cost = format_seconds(sum(one.compared.seconds for one in self.foremost if one.compared))
        count = sum(len(one.compared.looks) for one in self.foremost if one.compared)
        said = f"compared on {where}, {seeds} seed{'s' if seeds > 1 else ''}: {count} trainings, {cost}"
        if len(ranked) > 1 and ranked[1].compared is not None:
            gain, error = first.ahead_of(ranked[1].compared)
            said += f"; the loss is {gain:.4f} (standard error {error:.4f}) below that of candidate {ranked[1].id}, the next"
        return said

    def to_json(self) -> dict[str, Any]:
        """Plain values: what `trained.json` holds."""
        return {
            "recipe": self.recipe.to_json(),
            "best": self.best.id if self.ranked else None,
            **({"chosen": self.said} if self.said else {}),
            "foremost": [one.to_json() for one in self.foremost],
        }

    def __repr__(self) -> str:
        judged = None if self.best.trained is None else self.best.trained.validation
        return f"<TrainedBest: of {len(self.foremost)} candidate {self.best.id} is the best{f', {judged}' if judged else ''}>"

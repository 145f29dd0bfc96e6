"""The foremost of a search, trained: what was foreseen is confirmed, and the best is named by validation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foresee.checks import whole
from foresee.errors import InputError, RunError, TrainingError
from foresee.runs.events import Observer
from foresee.runs.folder import write_whole
from foresee.runs.record import CandidateRow, Record
from foresee.searchers.run import Run
from foresee.spaces.candidate import Candidate
from foresee.training.encoding import beside
from foresee.training.loop import train
from foresee.training.recipe import Recipe
from foresee.training.recipe import recipe as get_recipe
from foresee.training.trained import Trained
from foresee.training.usual import usual_recipe

#: where the trainings of a run are, and what tells of them
FOLDER, SUMMARY = "trained", "trained.json"


@dataclass(frozen=True)
class Foremost:
    """One of the foremost: its place by the search (from 1), and what training made of it, or why it made nothing."""

    place: int
    candidate: Candidate
    trained: Trained | None
    reason: str = ""

    @property
    def id(self) -> int:
        """The number of the candidate in its run."""
        return int(self.candidate.details["id"])

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        plain: dict[str, Any] = {"place": self.place, "id": self.id, "architecture": str(self.candidate.architecture)}
        if self.trained is None:
            return {**plain, "reason": self.reason}
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
        there = [one for one in self.foremost if one.trained is not None]
        if not there:
            reasons = "; ".join(f"candidate {one.id}: {one.reason}" for one in self.foremost)
            raise RunError(f"none of the {len(self.foremost)} foremost could be trained: {reasons}")
        return max(there, key=lambda one: (_merit(one.trained), -one.place))

    def to_json(self) -> dict[str, Any]:
        """Plain values: what `trained.json` holds."""
        done = any(one.trained is not None for one in self.foremost)
        return {
            "recipe": self.recipe.to_json(),
            "best": self.best.id if done else None,
            "foremost": [one.to_json() for one in self.foremost],
        }

    def __repr__(self) -> str:
        judged = None if self.best.trained is None else self.best.trained.validation
        return f"<TrainedBest: of {len(self.foremost)} candidate {self.best.id} is the best{f', {judged}' if judged else ''}>"


def foremost(record: Record, count: int) -> list[CandidateRow]:
    """The first `count` of a run that compute different functions: as the finals ranked them, then those that the searcher
    itself names (the history of `batch_evolution`), then by merit.
    """
    whole("train_best", count)
    rows = {row.id: row for row in record.scored}
    ranked = [one.candidate for one in record.finals.ranked] if record.finals else []
    first = [] if record.best is None else [record.best.id]
    found: dict[str, CandidateRow] = {}
    for one in [*first, *ranked, *(one for one in record.foremost if one in rows), *rows]:
        found.setdefault(rows[one].identity, rows[one])
    return list(found.values())[:count]


def train_best(
    run: Run,
    count: int = 3,
    recipe: str | Path | Recipe | None = None,
    *,
    data: Any = None,
    device: str | None = None,
    observers: Iterable[Observer] = (),
    **changes: Any,
) -> TrainedBest:
    """Train the foremost of a run, each in a folder of its own in the run's (`trained/ID`), and name the best.

    What is there already is not trained again, and one that was stopped goes on: the same call, or the same command.

    Args:
        run: a search.
        count: how many of the foremost.
        recipe: how they are trained; None: `fast`, or for click logs `ctr`, of few rows `ctr_small`.
        data: what they learn from; None: what the search looked at.
        device: where; None: where the search scored.
        observers: are told what happens.
        changes: values of the recipe.
    """
    settings = run.record.settings
    given = settings.get("data", "digits") if data is None else data
    if isinstance(given, str) and (given.startswith("given:") or given == "synthetic"):
        raise InputError(
            f"train_best: {given.partition(':')[0]} data cannot be learnt from; say what to learn from with data"
        )
    # What the search saw is what is trained on, encoded alike.
    encoded: dict[str, Any] = (
        {"schema": settings.get("schema"), "preprocessing": beside(run.folder)} if isinstance(given, str) else {}
    )
    rows = foremost(run.record, count)
    if not rows:
        raise RunError("train_best: no candidate of this run has a score")
    chosen = get_recipe(usual_recipe(run.candidate(rows[0]), given, **encoded) if recipe is None else recipe, **changes)
    made = []
    for place, row in enumerate(rows, 1):
        candidate = run.candidate(row)
        out = None if run.folder is None else run.folder / FOLDER / str(row.id)
        try:
            trained = train(
                candidate,
                given,
                chosen,
                out=out,
                resume=True,
                seed=int(settings.get("seed", 0)),
                device=device or str(settings.get("device", "cpu")),
                observers=observers,
                **encoded,
            )
        except TrainingError as error:
            made.append(Foremost(place, candidate, None, str(error)))
            continue
        if out is not None:
            trained.save_report(out / "report.html")
        made.append(Foremost(place, candidate, trained))
    found = TrainedBest(chosen, tuple(made), None if run.folder is None else run.folder / FOLDER)
    if run.folder is not None:
        write_whole(run.folder / SUMMARY, json.dumps(found.to_json(), indent=1) + "\n")
    return found


def summary(folder: str | Path | None) -> Mapping[str, Any] | None:
    """What `trained.json` in a run's folder says; None where nothing was trained."""
    if folder is None or not (Path(folder) / SUMMARY).is_file():
        return None
    try:
        plain = json.loads((Path(folder) / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return plain if isinstance(plain, dict) and isinstance(plain.get("foremost"), list) else None


def _merit(trained: Trained | None) -> tuple[float, float]:
    return (0.0, 0.0) if trained is None or trained.validation is None else trained.validation.merit

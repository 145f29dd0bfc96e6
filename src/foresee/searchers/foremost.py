"""The foremost of a search, trained: what was foreseen is confirmed, and the best is named by validation.

As published, the head of the ranking is trained, each once on one split (`folds=0`). Of click logs, where nobody says
otherwise, half of the candidates are taken from all sizes instead: scores grow with every layer and do not see how few rows
there are. And of a small log one split names a winner by chance, so there the candidates are compared on five folds of the
rows that are not test rows (`searchers/repeated.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from foresee.checks import whole
from foresee.devices import threads
from foresee.errors import InputError, RunError, TrainingError
from foresee.runs.apart import each
from foresee.runs.events import Announcer, Event, Observer
from foresee.runs.folder import RunFolder, write_whole
from foresee.runs.record import CandidateRow, Record
from foresee.runs.values import known_as
from foresee.searchers.looks import Compared
from foresee.searchers.named import Foremost, TrainedBest
from foresee.searchers.repeated import Asked, compared, travels, usual_looks
from foresee.searchers.run import Run
from foresee.spaces.candidate import Candidate
from foresee.training.encoding import beside
from foresee.training.loop import train
from foresee.training.recipe import Recipe
from foresee.training.recipe import recipe as get_recipe
from foresee.training.trained import Trained
from foresee.training.usual import usual_recipe

#: where the trainings of a run are, what tells of them, and where the looks of a comparison are
FOLDER, SUMMARY, LOOKS = "trained", "trained.json", "compared"


def foremost(record: Record, count: int, *, by_size: bool = False) -> list[CandidateRow]:
    """The first `count` of a run that compute different functions: as the finals ranked them, then those that the searcher
    itself names (the history of `batch_evolution`), then by merit.

    With `by_size` only the first half is taken so. For the other half the rest is put in order of parameters and cut into as
    many groups as there are places, and each group sends the one that comes first in the order above.
    """
    whole("train_best", count)
    rows = {row.id: row for row in record.scored}
    ranked = [one.candidate for one in record.finals.ranked] if record.finals else []
    first = [] if record.best is None else [record.best.id]
    found: dict[str, CandidateRow] = {}
    for one in [*first, *ranked, *(one for one in record.foremost if one in rows), *rows]:
        found.setdefault(known_as(rows[one].identity), rows[one])
    order = list(found.values())
    head = count - count // 2 if by_size else count
    places = {row.id: place for place, row in enumerate(order)}
    rest = sorted(order[head:], key=lambda row: (row.counts.get("params", 0), row.id))
    groups = min(count - head, len(rest))
    cuts = [len(rest) * number // groups for number in range(groups + 1)] if groups else []
    chosen = [min(rest[low:high], key=lambda row: places[row.id]) for low, high in pairwise(cuts)]
    return order[:head] + sorted(chosen, key=lambda row: places[row.id])


def train_best(
    run: Run,
    count: int = 3,
    recipe: str | Path | Recipe | None = None,
    *,
    data: Any = None,
    device: str | None = None,
    observers: Iterable[Observer] = (),
    folds: int | None = None,
    seeds: int | None = None,
    workers: int = 1,
    **changes: Any,
) -> TrainedBest:
    """Train the foremost of a run, each in a folder of its own in the run's (`trained/ID`), and name the best.

    What is there already is not trained again, and one that was stopped goes on: the same call, or the same command.
    The winner is written to the run's `best.json`.

    Args:
        run: a search.
        count: how many of the foremost.
        recipe: how they are trained; None: `fast`, or by the size of a click log `ctr`, `ctr_middle`, `ctr_small`.
        data: what they learn from; None: what the search looked at.
        device: where; None: where the search scored.
        observers: are told what happens.
        folds: pieces of the rows that are not test rows, each held out once to choose the winner; 0: the one split, as
            published; None: 5 for click logs of fewer than 200,000 rows to learn from, 0 for all else.
        seeds: trainings of each on each piece; None: one (of a small log that is split by time: five, and no folds).
        workers: processes that compare, and that train where more than one is trained to the end; the numbers are the same.
            What learns on an accelerator is trained one after the other.
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
    first = foremost(run.record, count)
    if not first:
        raise RunError("train_best: no candidate of this run has a score")
    known = run.candidate(first[0])
    chosen = get_recipe(usual_recipe(known, given, **encoded) if recipe is None else recipe, **changes)
    asked = _asked(Asked(given, chosen, 0, encoded=encoded), known, folds, seeds, device, settings)
    again = len(asked.looks) > 1 and count > 1
    by_size = again or (folds is None and bool(known.task.vocabularies))
    rows = foremost(run.record, count, by_size=by_size) if by_size else first
    candidates = [run.candidate(row) for row in rows]
    folder = None if run.folder is None else run.folder / FOLDER
    looked: Sequence[Compared | None] = [None] * len(rows)
    if again:
        where = None if folder is None else folder / LOOKS
        looked = compared(candidates, asked, where, workers, Announcer(observers))
    made = [
        Foremost(place, candidate, None, "" if looks is None or looks.merit else looks.reason, looks)
        for place, (candidate, looks) in enumerate(zip(candidates, looked, strict=True), 1)
    ]
    jobs = [
        _Job(one, asked, None if folder is None else folder / str(one.id))
        for one in TrainedBest(chosen, tuple(made)).ranked
    ]
    reasons = _side_by_side(jobs, 1 if again else workers, Announcer(observers))
    for job, reason in zip(jobs, reasons, strict=True):
        made[job.one.place - 1] = job.made(reason, observers)
        if again and made[job.one.place - 1].trained is not None:
            break  # the winner is known
    found = TrainedBest(chosen, tuple(made), folder)
    if run.folder is not None:
        write_whole(run.folder / SUMMARY, json.dumps(found.to_json(), indent=1) + "\n")
        if found.ranked:
            RunFolder(run.folder).write_best(found.best.candidate.to_json())
    return found


@dataclass(frozen=True)
class _Job:
    """A whole training, in a folder of its own where there is one; it can travel to another process where its data can."""

    one: Foremost
    asked: Asked
    out: Path | None

    def train(self, observers: Iterable[Observer] = ()) -> Trained:
        asked = self.asked
        how: dict[str, Any] = {"seed": asked.seed, "device": asked.device, "observers": observers, **asked.encoded}
        with threads(asked.threads):
            return train(self.one.candidate, asked.data, asked.recipe, out=self.out, resume=True, **how)

    def run(self) -> str:
        """Train, and leave it in the folder; why nothing came of it, or nothing."""
        try:
            self.train()
        except TrainingError as error:
            return str(error)
        return ""

    def made(self, apart: str | None, observers: Iterable[Observer]) -> Foremost:
        """What became of the candidate: trained here, or read from its folder where another process has done it (`apart`: why
        nothing came of it, or "").
        """
        reason = apart or ""
        try:
            trained = None if reason else self.train(observers if apart is None else ())
        except TrainingError as error:
            trained, reason = None, str(error)
        if trained is not None and self.out is not None:
            trained.save_report(self.out / "report.html")
        return replace(self.one, trained=trained, reason=reason or self.one.reason)


def _side_by_side(jobs: Sequence[_Job], workers: int, tell: Announcer) -> Sequence[str | None]:
    """What processes of their own have trained: why nothing came of it, or ""; None where it is still to do."""
    apart = workers > 1 and len(jobs) > 1 and jobs[0].out is not None and jobs[0].asked.device == "cpu"
    if not apart or not travels(jobs[0], jobs[0].asked.data):
        return [None] * len(jobs)

    def told(done: int) -> None:
        name = f"training {len(jobs)} networks, {min(workers, len(jobs))} at once"
        last = jobs[max(done - 1, 0)].one.id
        tell(Event("step", done, len(jobs), last, {"name": name, "step": done, "steps": len(jobs), "replayed": False}))

    reasons = []
    told(0)
    for done, reason in enumerate(each(_Job.run, jobs, workers), 1):
        reasons.append(reason)
        told(done)
    return reasons


def check_looks(folds: int | None, seeds: int | None) -> None:
    """Refuse a comparison that cannot be, before anything is searched."""
    for name, value, least in (("train_folds", folds, 0), ("train_seeds", seeds, 1)):
        if value is not None:
            whole(name, value, least)
    if folds == 1:
        raise InputError("train_folds = 1: expected 2 pieces or more, or 0 for the one split")


def _asked(
    known: Asked,
    candidate: Candidate,
    folds: int | None,
    seeds: int | None,
    device: str | None,
    settings: Mapping[str, Any],
) -> Asked:
    """How often candidates are compared, as it was asked for or as it is usual."""
    check_looks(folds, seeds)
    usual = usual_looks(candidate, known.data, known.encoded) if folds is None else (folds, 1)
    return replace(
        known,
        folds=usual[0],
        seeds=usual[1] if seeds is None else seeds,
        seed=int(settings.get("seed", 0)),
        device=device or str(settings.get("device", "cpu")),
        threads=int(settings.get("threads", 1)),
    )


def summary(folder: str | Path | None) -> Mapping[str, Any] | None:
    """What `trained.json` in a run's folder says; None where nothing was trained."""
    if folder is None or not (Path(folder) / SUMMARY).is_file():
        return None
    try:
        plain = json.loads((Path(folder) / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return plain if isinstance(plain, dict) and isinstance(plain.get("foremost"), list) else None

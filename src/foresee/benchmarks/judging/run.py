"""`fs.judge`: all trials, one after the other or several at once, gone on with after any end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from foresee.benchmarks.judging.contestants import Contestant, contestants_of
from foresee.benchmarks.judging.folds import Ground
from foresee.benchmarks.judging.result import Judged
from foresee.benchmarks.judging.trial import Trial, Verdict
from foresee.checks import whole
from foresee.errors import InputError, RunError, SettingsMismatchError, UnknownNameError
from foresee.runs.apart import each
from foresee.runs.environment import environment
from foresee.runs.events import Announcer, Event, Observer
from foresee.runs.folder import RunFolder, is_there, write_whole
from foresee.runs.progress import watched
from foresee.training.keeping import differences, read_plain
from foresee.training.recipe import Recipe
from foresee.training.recipe import recipe as get_recipe

#: what a judging is, the numbers of all its trials, and where their verdicts are
JUDGING, TRIALS = "judging.json", "trials"


def judge(
    contestants: Iterable[Any],
    data: Any,
    *,
    schema: Any = None,
    folds: int = 5,
    seeds: int = 5,
    seed: int = 0,
    recipe: str | Path | Recipe = "ctr_small",
    reference: str | None = None,
    out: str | Path | None = None,
    workers: int = 1,
    threads: int = 1,
    device: str = "cpu",
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    observers: Iterable[Observer] = (),
    progress: bool = False,
    **changes: Any,
) -> Judged:
    """Judge contestants on the same folds of the same rows under the same seeds.

    Killed at any moment, the same call goes on: every finished trial is a file, a training that was half done goes on at its
    last checkpoint. More contestants or more seeds extend what is there.

    Args:
        contestants: texts (see `contestants_of`), candidates, recommenders.
        data: a name, a path, or a `Data`.
        schema: of a raw click log.
        folds: pieces of the rows, each the test once.
        seeds: trainings of each contestant on each fold, under seeds `seed`, `seed + 1`, ...
        seed: the first, which also draws the folds.
        recipe: how all of them are trained.
        reference: the label that the others are compared with; None: the first contestant.
        out: the folder that keeps all of it; None keeps nothing.
        workers: processes; the numbers are the same.
        threads: of torch in each of them.
        device: where.
        settings: of recommenders, by name: `{"deepfm": {"dropout": 0.2}}`.
        observers: are told what happens.
        progress: show a line of progress.
        changes: values of the recipe.
    """
    for name, value, least in (("folds", folds, 2), ("seeds", seeds, 1), ("workers", workers, 1)):
        whole(name, value, least, of="judge")
    chosen = get_recipe(recipe, **changes)
    found = contestants_of([contestants] if isinstance(contestants, str) else contestants, settings)
    labels = [one.label for one in found]
    if reference is not None and reference not in labels:
        raise UnknownNameError("contestant as reference", reference, labels)
    ground = Ground(data, schema, folds, chosen.validation or 0.1, seed)
    if workers > 1 and not ground.travels:
        raise InputError("judge: several workers read the data by themselves; hand over a path, or ask for one worker")
    folder = None if out is None else Path(out)
    asked = {"recipe": chosen.to_json(), "data": ground.words, "seed": seed}
    tell = Announcer(watched(observers, progress))
    with ExitStack() as stack:
        if folder is not None:
            held = RunFolder(folder)
            _check(folder, held, asked)
            held.hold()
            stack.callback(held.release)
            write_whole(folder / JUDGING, json.dumps({"asked": asked, "status": "running"}, indent=1) + "\n")
        kept = None if folder is None else folder / TRIALS
        trials = [
            Trial(one.label, one.what, ground, fold, seed + run, chosen.to_json(), kept, threads, device)
            for run in range(seeds)  # a whole round of folds and contestants first: what is there can be looked at
            for fold in range(folds)
            for one in found
        ]
        verdicts = list(_all(trials, workers, tell))
        made = Judged(found, tuple(verdicts), asked, reference or labels[0], folder, environment())
        if folder is not None:
            write_whole(folder / JUDGING, json.dumps(made.to_json(), indent=1, allow_nan=False) + "\n")
    return made


def _check(folder: Path, held: RunFolder, asked: Mapping[str, Any]) -> None:
    if held.exists or is_there(folder / "training.json"):
        raise RunError(f"{folder}: holds a search or a training; choose another --out")
    if not is_there(folder / JUDGING):
        return
    different = differences(asked, read_plain(folder / JUDGING).get("asked") or {})
    if different:
        raise SettingsMismatchError(f"{folder}: another judging is in this folder: {'; '.join(different)}")


def _all(trials: Sequence[Trial], workers: int, tell: Announcer) -> Iterator[Verdict]:
    """The verdicts in the order of the trials; those that are there are not made again."""
    stored = [trial.stored() for trial in trials]
    kept = sum(one is not None for one in stored)
    total = len(trials)
    tell(Event("resumed" if kept else "started", kept, total, None, {"kept": kept}))
    missing = [trial for trial, one in zip(trials, stored, strict=True) if one is None]
    made = each(Trial.run, missing, workers)
    done = kept
    for trial, there in zip(trials, stored, strict=True):
        if there is not None:
            yield there
            continue
        found = next(made)
        done += 1
        doing = f"{trial.contestant}, fold {trial.fold + 1}, seed {trial.seed}"
        kind = "scored" if found.ok else "failed"
        tell(Event(kind, done, total, None, {"doing": doing, "reason": found.reason, "replayed": False}))
        yield found
    tell(Event("finished", done, total))


def opened(folder: str | Path) -> Judged:
    """A finished judging as it is stored."""
    folder = Path(folder)
    plain = read_plain(folder / JUDGING)
    try:
        found = tuple(Contestant.from_json(label, what) for label, what in plain["contestants"].items())
        verdicts = tuple(Verdict.from_json(one) for one in plain["verdicts"])
        return Judged(found, verdicts, plain["asked"], plain["reference"], folder, plain["environment"])
    except (KeyError, TypeError, AttributeError) as error:
        raise RunError(f"{folder / JUDGING}: the judging is not finished, or it is no judging ({error})") from error

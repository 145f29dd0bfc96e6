"""Networks that the papers' searches find: counted exactly at the size that is printed, trained at a size that runs here.

    picks = searched(workshop, "nasi-fix-darts")                       # the preset, once for each seed
    yield size("nasi-fix", "cifar10:params", [printed(one, CIFAR, channels=36, layers=20) for one in picks])
    yield error(workshop, "nasi-fix", "cifar10:error", picks, own)

Parameters and MACs are of the printed size. An error is of thinner, shallower networks after a few epochs (`REDUCED`): it
says so beside the number, and is for comparing the rows with each other, not with the print. Searches and trainings are kept
beside the scores (`--cache`), so a table that was stopped goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from foresee.papers.cells import Cell
from foresee.papers.searches import folder
from foresee.papers.workshop import Workshop
from foresee.quantities import format_cost
from foresee.searchers.presets import merged, preset
from foresee.searchers.search import run_search
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import get
from foresee.statistics.student import mean_of_few
from foresee.task import Task
from foresee.training.loop import train
from foresee.training.trained import Trained

CIFAR, CIFAR100, IMAGENET = Task((3, 32, 32), 10), Task((3, 32, 32), 100), Task((3, 224, 224), 1000)
#: the size of what is trained; `full` runs the published search (hours), `trained = False` only counts
REDUCED: Mapping[str, Any] = {"epochs": 3, "batch": 96, "full": False, "trained": True}
#: of DARTS networks; the papers: 600 epochs of 36 channels and 20 cells
REDUCED_CELLS: Mapping[str, Any] = {**REDUCED, "channels": 8, "layers": 5}
NOT_TRAINED = "not trained: trained = false was asked for"


def searched(workshop: Workshop, name: str, *, full: bool = False, **settings: Any) -> list[Candidate]:
    """What a preset finds, once for each of the workshop's seeds; `settings` are its searcher's, the workshop's on top."""
    asked = preset(name)
    own = {**settings, **workshop.searcher_settings.get(asked.search["searcher"], {})}
    said: dict[str, Any] = {
        "data": workshop.looked_at(),
        "searcher_settings": own,
        "threads": workshop.threads,
        "device": workshop.device,
    }
    if workshop.batch_size is not None:
        said["batch_size"] = workshop.batch_size
    found = []
    for seed in seeds(workshop):
        wanted = asked.settings(full=full, **merged(said, {"seed": seed}))
        run = run_search(
            wanted,
            out=folder(workshop, "searches", wanted.to_json()),
            resume=True,
            engine=workshop.engine,
            workers=workshop.workers,
            observers=workshop.observers,
        )
        found.append(run.best)
    return found


def seeds(workshop: Workshop) -> range:
    """One search, or one training, for each."""
    return range(workshop.seed, workshop.seed + workshop.repeats)


def printed(candidate: Candidate, task: Task, **settings: Any) -> Candidate:
    """The same architecture in the size that a paper prints numbers of."""
    space = get(candidate.space.name, **{**candidate.space.settings(), **settings})
    return Candidate(space, space.parse(str(candidate.architecture)), task)


def size(row: str, column: str, candidates: Sequence[Candidate], unit: float = 1e6, *, what: str = "params") -> Cell:
    """What networks count, in millions (or `unit`), the mean over what the seeds found; the other count stands beside it."""
    counts = [one.space.counts(one.architecture, one.task) for one in candidates]
    values = np.array([getattr(one, what) for one in counts], float) / unit
    other, called = ("macs", "MACs") if what == "params" else ("params", "parameters")
    beside = format_cost(other, float(np.mean([getattr(one, other) for one in counts])))
    return Cell(row, column, mean_of_few(values), f"{beside} {called}")


def error(
    workshop: Workshop,
    row: str,
    column: str,
    candidates: Sequence[Candidate],
    own: Mapping[str, Any],
    *,
    recipe: str = "nasi_cifar",
    task: Task = CIFAR,
    right: bool = False,
) -> Cell:
    """The test error in per cent of networks trained at the reduced size (of accuracies with `right`)."""
    if not own["trained"]:
        return Cell.missing(row, column, NOT_TRAINED)
    shape = {key: own[key] for key in ("channels", "layers") if key in own}
    found = [
        trained(workshop, printed(one, task, **shape), own, recipe, seed)
        for one, seed in zip(candidates, seeds(workshop), strict=True)
    ]
    accuracies = 100 * np.array([_accuracy(one) for one in found])
    words = ", ".join([f"{value} {key}" for key, value in shape.items()] + [f"{own['epochs']} epochs of {recipe}"])
    return Cell(row, column, mean_of_few(accuracies if right else 100 - accuracies), words)


def trained(workshop: Workshop, candidate: Candidate, own: Mapping[str, Any], recipe: str, seed: int) -> Trained:
    """One training, of the workshop's data in the shape that the network takes."""
    data = workshop.looked_at()
    # the size is the candidate's own, and a warm-up of twenty epochs would be the whole of three
    changes = {"epochs": own["epochs"], "batch": own["batch"], "warmup_epochs": 0.0, "channels": None, "layers": None}
    out = folder(workshop, "trainings", [candidate.to_json(), data, recipe, changes, seed])
    return train(candidate, data, recipe, out=out, resume=out is not None, seed=seed, device=workshop.device, **changes)


def _accuracy(one: Trained) -> float:
    judged = one.judged
    return float("nan") if judged is None or judged.accuracy is None else judged.accuracy

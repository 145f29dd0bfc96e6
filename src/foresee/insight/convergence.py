"""How fast cells learn: the same training of each, without regularisation, under several seeds and rates (thesis, 4.3.1).

    cells = [Variant("DARTS", cell), *variants_of(cell, 12)]
    study = converge(cells, "cifar10.npz", epochs=5, rates=(0.025, 0.25), seeds=3)
    print(study.agreement("width"))           # rank correlation of width with the loss, mean over seeds
    print(study.gap())                        # loss of the narrowest third minus loss of the widest third

Every training has the same data, batches, steps and recipe (`ch4_cifar`, at a smaller size). One that diverges is a curve
that ends, with the reason, and counts as the worst.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from foresee.checks import whole
from foresee.errors import InputError, TrainingError
from foresee.insight.studies import Curve, Study
from foresee.insight.variants import Variant
from foresee.runs.events import Event, Observer
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import get
from foresee.task import Task
from foresee.training.keeping import TRAINING, read_plain
from foresee.training.loop import train
from foresee.training.recipe import recipe
from foresee.training.trained import Epoch, Trained

#: the size that runs here; the thesis: 36 channels, 20 cells, 600 epochs
SIZE: Mapping[str, int] = {"channels": 8, "layers": 5}
RECIPE = "ch4_cifar"


def converge(
    cells: Iterable[Variant],
    data: Any,
    *,
    epochs: int = 5,
    rates: Sequence[float] = (0.025,),
    seeds: int | Sequence[int] = 3,
    task: Task | None = None,
    size: Mapping[str, int] = SIZE,
    device: str = "cpu",
    out: str | Path | None = None,
    observers: Iterable[Observer] = (),
    **changes: Any,
) -> Study:
    """Train every cell under every rate and seed.

    Args:
        cells: whom, each of another name.
        data: what is learnt from (`fs.train`).
        epochs: passes over it.
        rates: learning rates that the schedule begins at.
        seeds: how many, from 0 on, or which; a seed decides the weights and the order of the samples.
        task: what goes in and out; None for images of 3x32x32 in 10 classes.
        size: `channels` and `layers` of the networks.
        device: where.
        out: a folder to keep the trainings in, of this data alone: what is there is not trained again; None keeps nothing.
        observers: are told how far it is.
        changes: other values of the recipe (`batch=128`).
    """
    chosen = tuple(cells)
    if len({one.name for one in chosen}) < len(chosen) or not chosen:
        raise InputError("cells of a study: expected at least one, each with another name")
    whole("epochs", epochs)
    many = tuple(range(seeds) if isinstance(seeds, int) else seeds)
    asked = {"epochs": epochs, "rates": list(rates), "seeds": list(many), **dict(size), **changes}
    jobs = [(one, rate, seed) for rate in rates for seed in many for one in chosen]
    curves, watching = [], tuple(observers)
    for number, (one, rate, seed) in enumerate(jobs, 1):
        made = {"epochs": epochs, "lr": rate, **changes}
        curves.append(learn(one, data, seed, task=task, size=size, device=device, out=out, **made)[0])
        for tell in watching:
            tell(Event("scored", number, len(jobs), number - 1))
    return Study(chosen, tuple(curves), {**asked, "recipe": RECIPE})


def learn(
    cell: Variant,
    data: Any,
    seed: int = 0,
    *,
    task: Task | None = None,
    size: Mapping[str, int] = SIZE,
    device: str = "cpu",
    out: str | Path | None = None,
    **changes: Any,
) -> tuple[Curve, Trained | None]:
    """One training, as a curve and as what was trained (None where it diverged); arguments are as in `converge`."""
    candidate = Candidate(get("darts", **size), cell.architecture, task or Task((3, 32, 32), 10))
    asked = recipe(RECIPE, **{**changes, "channels": None, "layers": None})  # the size is the candidate's own
    seen, steps = list[Epoch](), [0]

    def watch(event: Event) -> None:
        steps[0] = event.total or steps[0]
        if event.kind == "epoch":
            seen.append(Epoch.from_json(event.details))

    where = None if out is None else Path(out) / digest(cell, task, size, changes, seed)
    try:
        found = train(
            candidate, data, asked, out=where, resume=where is not None, seed=seed, device=device, observers=[watch]
        )
    except TrainingError as error:
        history = [Epoch.from_json(one) for one in read_plain(where / TRAINING)["history"]] if where else seen
        return _curve(cell.name, asked.lr, seed, history, steps[0] // asked.epochs, reason=str(error)), None
    judged = found.judged
    ends = {} if judged is None else {"test_loss": judged.loss, "test_accuracy": judged.accuracy}
    return _curve(cell.name, asked.lr, seed, found.history, steps[0] // asked.epochs, **ends), found


def digest(*asked: Any) -> str:
    """A name by all that decides a training but the data; what a cell is called does not."""
    plain = [str(one.architecture) if isinstance(one, Variant) else one for one in asked]
    return hashlib.sha256(json.dumps(plain, sort_keys=True, default=repr).encode()).hexdigest()[:16]


def _curve(cell: str, rate: float, seed: int, history: Sequence[Epoch], per_epoch: int, **ends: Any) -> Curve:
    return Curve(
        cell,
        rate,
        seed,
        tuple(one.number * per_epoch for one in history),
        tuple(one.loss for one in history),
        tuple(one.val_loss if one.val_loss is not None else one.loss for one in history),
        tuple(one.val_accuracy or 0.0 for one in history),
        **ends,
    )

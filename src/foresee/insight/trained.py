"""A cell and its variants trained alike: what its shape has to do with how fast it learns (thesis, 4.3).

    found = study(NAMED["DARTS_V2"], "cifar10.npz", variants=12, epochs=5, out="runs/why")
    print(found)                                       # a small table, and rank correlations with their intervals
    found.alike.agreement("width")                     # over cells of the same operations

Every training is kept in `out` as it goes (and every map of a loss landscape): a study that was killed goes on where it was,
and ends as it would have.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from foresee.batch import Batch
from foresee.checks import whole
from foresee.errors import DataError, InputError
from foresee.insight.around import MEASURED, Around, Looks, look_around
from foresee.insight.convergence import SIZE, converge, digest, learn
from foresee.insight.studies import Study, correlation
from foresee.insight.variants import Variant, deepest, family, spanning, widest
from foresee.runs.events import Event, Observer
from foresee.runs.folder import write_whole
from foresee.spaces.darts.cells import KINDS, Architecture
from foresee.statistics import Estimate, mean_of_few
from foresee.task import Task
from foresee.training.keeping import read_plain
from foresee.training.sources import sources

#: learning rates of Figures 4.3 and 4.4; the first is the usual one
RATES = (0.025, 0.0025, 0.25)
#: beside the cell itself so many that span the widths have their landscape looked at
MAPPED = 4
STUDY, TRAININGS, MAPS = "study.json", "trainings", "landscapes"


class Effect(NamedTuple):
    """What width or depth has to do with a loss after so many steps at a rate: Spearman's, its interval over cells."""

    shape: Literal["width", "depth"]
    rate: float
    step: int
    measure: Literal["val_loss", "loss"]
    estimate: Estimate


@dataclass(frozen=True)
class TrainedStudy:
    """The cell itself (the first) and its variants, trained; and what lies around some of them."""

    study: Study
    around: tuple[Around, ...] = ()

    @property
    def alike(self) -> Study:
        """Those with the cell's own operations: they differ in their connections alone."""
        own = _operations(self.study.cells[0].architecture)
        return self.study.among(one.name for one in self.study.cells if _operations(one.architecture) == own)

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Of width and depth, under every rate, after the first look, half of the steps, and all of them; from 3 cells on."""
        study = self.alike
        if len(study.cells) < 3 or not study.steps:
            return ()
        looks = dict.fromkeys((study.steps[0], study.steps[len(study.steps) // 2], study.steps[-1]))
        return tuple(
            Effect(shape, rate, step, measure, study.agreement(shape, measure, rate=rate, step=step))
            for rate in study.rates
            for step in looks
            for measure in ("val_loss", "loss")
            for shape in ("width", "depth")
        )

    def spread(self, kind: Literal["connections", "operations"], rate: float | None = None) -> Estimate | None:
        """How much the final loss differs over random variants of a kind: its standard deviation, mean over seeds."""
        own, alike = self.study.cells[0], {one.name for one in self.alike.cells}
        ends = (own.architecture, widest(own.architecture), deepest(own.architecture))
        names = [
            one.name
            for one in self.study.cells
            if one.architecture not in ends and (one.name in alike) == (kind == "connections")
        ]
        if len(names) < 2:
            return None
        return mean_of_few(self.study.among(names).values(rate=rate).std(1))

    def surroundings(self, shape: Literal["width", "depth"]) -> dict[str, Estimate]:
        """Spearman's of width or depth with what was measured around the cells; empty for fewer than 4."""
        shapes = {one.name: float(getattr(one, shape)) for one in self.study.cells}
        if len({one.cell for one in self.around}) < 4:
            return {}
        across = np.array([shapes[one.cell] for one in self.around])
        return {
            words: correlation(across, np.array([read(one) for one in self.around])) for words, read in MEASURED.items()
        }

    def __str__(self) -> str:
        """The table of the study; what was found around the cells below it."""
        lines = [str(self.study)]
        lines += [
            f"around {one.cell}: loss {one.loss:.3g}, rise {one.rise:.3g}, largest eigenvalue "
            f"{one.curvature.largest:.3g}, near-convex to {one.convex.mean:.2g}, gradient deviation {one.noise:.3g}"
            for one in self.around
        ]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain values, with the correlations."""
        effects = [{**one._asdict(), "estimate": one.estimate.to_json()} for one in self.effects]
        around = [one.to_json() for one in self.around]
        return {**self.study.to_json(), "effects": effects, "around": around}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> TrainedStudy:
        """Inverse of `to_json`."""
        return cls(Study.from_json(plain), tuple(Around.from_json(one) for one in plain["around"]))


def study(
    architecture: Architecture,
    data: Any,
    *,
    name: str = "cell",
    variants: int = 12,
    epochs: int = 5,
    rates: Sequence[float] = RATES[:1],
    seeds: int = 3,
    seed: int = 0,
    task: Task | None = None,
    size: Mapping[str, int] = SIZE,
    device: str = "cpu",
    looks: Looks | None = None,
    out: str | Path | None = None,
    observers: Iterable[Observer] = (),
    **changes: Any,
) -> TrainedStudy:
    """Train a cell and its variants alike, without regularisation, in equal steps.

    Args:
        architecture: normal and reduction cell.
        data: images with labels (`fs.train`).
        name: what the cell is called.
        variants: how many others (`family`).
        epochs: passes over the data.
        rates: learning rates that the schedule begins at.
        seeds: trainings of each cell at each rate; at least 3 for an interval that means something.
        seed: the first of them; it draws the variants and the directions of landscapes too.
        task: what goes in and out; None for images of 3x32x32 in 10 classes.
        size: `channels` and `layers` of the networks.
        device: where.
        looks: look at the landscape around the cell and four that span the widths, this closely; None: not at all.
        out: a folder to keep everything in; None keeps nothing, and trains cells again whose landscape is looked at.
        observers: are told how far it is.
        changes: other values of the recipe (`batch=128`).
    """
    if len(set(rates)) < len(tuple(rates)) or not rates:
        raise InputError(f"rates {', '.join(f'{one:g}' for one in rates)}: expected at least one, each once")
    whole("seeds", seeds)
    where = None if out is None else Path(out)
    cells = family(architecture, variants, name=name, seed=seed)
    every = {"task": task, "size": size, "device": device, "out": where and where / TRAININGS, **changes}
    which = tuple(range(seed, seed + seeds))
    watching = tuple(observers)
    found = converge(cells, data, epochs=epochs, rates=rates, seeds=which, observers=watching, **every)
    made = TrainedStudy(found)
    if looks is not None:
        batches = looked_at(data, looks.samples, task, device)
        chosen = list(dict.fromkeys([cells[0], *spanning(made.alike.cells, MAPPED)]))
        around = []
        for number, cell in enumerate(chosen, 1):
            asked = {"epochs": epochs, "lr": float(rates[0])}
            around += _around(cell, data, seed, batches, looks, where, {**every, **asked})
            for tell in watching:
                tell(Event("step", details=_step(number, len(chosen))))
        made = TrainedStudy(found, tuple(around))
    if where is not None:
        write_whole(where / STUDY, json.dumps(made.to_json(), indent=1) + "\n")
    return made


def looked_at(data: Any, samples: int, task: Task | None = None, device: str = "cpu") -> list[Batch]:
    """The first test samples (else those for validation), normalised as those that are learnt from."""
    parts = sources(data, share=0.1, seed=0, inputs=(task or Task((3, 32, 32), 10)).inputs)
    source = parts.test or parts.validation or parts.train
    batches = list(islice(source.all(samples), 1))
    if not batches:
        raise DataError("landscape: there are no samples to look at")
    return [one.first(min(samples, len(one))).to(device) for one in batches]


def _step(number: int, many: int) -> dict[str, Any]:
    return {"name": "landscapes", "step": number, "steps": many, "replayed": False}


def _around(
    cell: Variant,
    data: Any,
    seed: int,
    batches: list[Batch],
    looks: Looks,
    where: Path | None,
    every: Mapping[str, Any],
) -> list[Around]:
    """What lies around one cell, from the folder where it is kept; nothing around one that diverged."""
    plain = {key: value for key, value in every.items() if key not in ("out", "device")}
    path = None if where is None else where / MAPS / f"{digest(cell, seed, looks.to_json(), plain)}.json"
    if path is not None and path.exists():
        return [Around.from_json({**read_plain(path), "cell": cell.name})]
    _, trained = learn(cell, data, seed, **every)
    if trained is None:
        return []
    found = look_around(trained.network, batches, looks, cell=cell.name, trained=seed, seed=seed)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(found.to_json()) + "\n")
    return [found]


def _operations(architecture: Architecture) -> list[str]:
    return [op for kind in KINDS for op, _ in architecture[kind].edges]

"""What a study of convergence found: a curve for every training, and what the shape of cells has to do with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foresee.errors import InputError, UnknownNameError
from foresee.grid import Column, Grid
from foresee.insight.variants import Variant
from foresee.statistics import Estimate, mean_of_few, resamples_of, spearman
from foresee.statistics.bootstrap import draws

Measure: TypeAlias = Literal["loss", "val_loss", "val_accuracy"]
MEASURES = ("loss", "val_loss", "val_accuracy")
Floats: TypeAlias = NDArray[np.float64]
#: cells from which on a rank correlation has an interval: of four, one order in twelve is perfect by chance
FEWEST = 5


@dataclass(frozen=True)
class Curve:
    """One training: what it saw after each epoch, in optimiser steps, and how good it was in the end.

    `loss` is over the training samples while they were learnt from, `val_loss` and `val_accuracy` over those kept apart.
    `test_loss` and `test_accuracy` are of the best epoch; None of one that diverged, whose `reason` says why.
    """

    cell: str
    rate: float
    seed: int
    steps: tuple[int, ...]
    loss: tuple[float, ...]
    val_loss: tuple[float, ...]
    val_accuracy: tuple[float, ...]
    test_loss: float | None = None
    test_accuracy: float | None = None
    reason: str = ""

    def at(self, step: int, measure: Measure = "val_loss") -> float:
        """The value after so many steps; of a training that had ended before, the worst there is."""
        known: dict[int, float] = dict(zip(self.steps, getattr(self, measure), strict=True))
        return known.get(step, -math.inf if measure == "val_accuracy" else math.inf)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Curve:
        """Inverse of `to_json`."""
        lists = {key: tuple(plain[key]) for key in ("steps", *MEASURES)}
        return cls(**{**plain, **lists})


@dataclass(frozen=True)
class Study:
    """Several cells, trained alike."""

    cells: tuple[Variant, ...]
    curves: tuple[Curve, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rates(self) -> tuple[float, ...]:
        """The learning rates, in the order of the study."""
        return tuple(dict.fromkeys(one.rate for one in self.curves))

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps at which all trainings were looked at."""
        return max((one.steps for one in self.curves), key=len, default=())

    def values(self, measure: Measure = "val_loss", *, step: int | None = None, rate: float | None = None) -> Floats:
        """What each cell had after so many steps (None: at the end) under one rate (None: the first), (seeds, cells)."""
        if measure not in MEASURES:
            raise UnknownNameError("measure of convergence", measure, MEASURES)
        if not self.steps:
            raise InputError("no training of the study got through its first epoch; try a smaller rate")
        at, lr = self.steps[-1] if step is None else step, self.rates[0] if rate is None else rate
        if at not in self.steps:
            raise InputError(f"step {at}: trainings were looked at after {', '.join(map(str, self.steps))} steps")
        return self._table(lambda curve: curve.at(at, measure), lr)

    def among(self, names: Iterable[str]) -> Study:
        """The same study of these cells alone."""
        kept = set(names)
        cells, curves = (
            [one for one in self.cells if one.name in kept],
            [one for one in self.curves if one.cell in kept],
        )
        return Study(tuple(cells), tuple(curves), self.settings)

    def tests(self, rate: float | None = None) -> Floats:
        """The test accuracy of each cell at its best epoch, (seeds, cells); minus infinity where it diverged."""
        lr = self.rates[0] if rate is None else rate
        return self._table(lambda one: -math.inf if one.test_accuracy is None else one.test_accuracy, lr)

    def agreement(
        self,
        shape: Literal["width", "depth"] = "width",
        measure: Measure = "val_loss",
        *,
        step: int | None = None,
        rate: float | None = None,
        bootstrap: int = 1000,
    ) -> Estimate:
        """Spearman's correlation of the cells' width (or depth) with what they had, mean over seeds.

        Below 0 for width and loss: wider cells have learnt more. The interval is over cells.
        """
        shapes = [float(getattr(one, shape)) for one in self.cells]
        return correlation(np.array(shapes), self.values(measure, step=step, rate=rate), bootstrap)

    def foretold(self, *, step: int | None = None, rate: float | None = None, bootstrap: int = 1000) -> Estimate:
        """Spearman's correlation of the loss after so many steps (None: the first look) with the test accuracy at the end.

        At -1 whoever learns fast ends best; near 0 speed says nothing of the end.
        """
        early = self.values(step=self.steps[0] if step is None else step, rate=rate)
        return correlation(early, self.tests(rate), bootstrap)

    def ends(
        self, shape: Literal["width", "depth"] = "width", *, rate: float | None = None, bootstrap: int = 1000
    ) -> Estimate:
        """Spearman's correlation of the cells' width (or depth) with their test accuracy at the end, mean over seeds."""
        shapes = np.array([float(getattr(one, shape)) for one in self.cells])
        return correlation(shapes, self.tests(rate), bootstrap)

    def gap(self, measure: Measure = "val_loss", *, step: int | None = None, rate: float | None = None) -> Estimate:
        """What the narrowest third of the cells had minus what the widest third had: the mean over seeds.

        Above 0 for losses: wider cells have learnt more. Infinite where a training diverged.
        """
        ordered = sorted(range(len(self.cells)), key=lambda i: (self.cells[i].width, -self.cells[i].depth))
        third = max(1, len(ordered) // 3)
        values = self.values(measure, step=step, rate=rate)
        with np.errstate(invalid="ignore"):
            return mean_of_few(values[:, ordered[:third]].mean(1) - values[:, ordered[-third:]].mean(1))

    def grid(self) -> Grid:
        """A small table: each cell with its shape and what it had in the end, and what its shape has to do with that."""
        columns = [Column("cell", words=True), Column("width"), Column("depth")]
        columns += [Column(f"loss, rate {rate:g}") for rate in self.rates]
        columns += [Column(f"test %, rate {rate:g}") for rate in self.rates]
        ends = [self.values(rate=rate).mean(0) for rate in self.rates]
        ends += [100 * self.tests(rate).mean(0) for rate in self.rates]
        rows = [
            [one.name, f"{one.width:g}c", str(one.depth), *(f"{values[place]:.4g}" for values in ends)]
            for place, one in enumerate(self.cells)
        ]
        notes = [
            f"rate {rate:g}: Spearman with the loss after {self.steps[-1]} steps, "
            f"width {self.agreement('width', rate=rate)}, depth {self.agreement('depth', rate=rate)}"
            for rate in self.rates
        ]
        return Grid(columns, rows, notes=notes)

    def __str__(self) -> str:
        return str(self.grid())

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        cells, curves = ([one.to_json() for one in many] for many in (self.cells, self.curves))
        return {"settings": dict(self.settings), "cells": cells, "curves": curves}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Study:
        """Inverse of `to_json`."""
        cells = tuple(Variant.from_json(one) for one in plain["cells"])
        return cls(cells, tuple(Curve.from_json(one) for one in plain["curves"]), dict(plain["settings"]))

    def _table(self, value: Callable[[Curve], float], rate: float) -> Floats:
        if rate not in self.rates:
            raise InputError(f"rate {rate:g}: the study has {', '.join(f'{one:g}' for one in self.rates)}")
        rows: dict[int, dict[str, float]] = {}
        for curve in self.curves:
            if curve.rate == rate:
                rows.setdefault(curve.seed, {})[curve.cell] = value(curve)
        return np.array([[row[cell.name] for cell in self.cells] for row in rows.values()], float)


def correlation(first: Floats, second: Floats, bootstrap: int = 1000) -> Estimate:
    """Spearman's of one list with another, (n,) each or (seeds, n): the mean over seeds, its interval over the n.

    Infinities have ranks like any number. Fewer than `FEWEST` have no interval.

    >>> print(correlation(np.arange(4.0), np.array([[0.0, 1.0, 2.0, np.inf], [3.0, 2.0, 1.0, 0.0]]), bootstrap=0))
    0.000
    """
    pairs = list(zip(*np.broadcast_arrays(np.atleast_2d(first), np.atleast_2d(second)), strict=True))
    ranked = [(_ranked(one), _ranked(other)) for one, other in pairs]
    n = len(ranked[0][0])
    which = draws(n, bootstrap if n >= FEWEST else 0, 0, "study", n)
    many = np.array([resamples_of(spearman, one, other, which) for one, other in ranked])
    value = float(np.mean([spearman(one, other) for one, other in ranked]))
    return Estimate.of(value, many.mean(0), n)


def _ranked(values: Floats) -> Floats:
    """The same order in finite numbers."""
    return np.searchsorted(np.unique(values), values).astype(float)

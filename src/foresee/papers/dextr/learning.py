"""Dextr's Figure 1a, on the right: how fast networks learn whose feature maps are more or less independent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from foresee.insight.studies import correlation
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter, Unavailable
from foresee.papers.dextr.suite import dextr_on
from foresee.papers.samples import Floats
from foresee.papers.trained import CIFAR, printed, trained
from foresee.papers.workshop import Workshop
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import get
from foresee.statistics.student import mean_of_few

BENCHMARK, RECIPE = "nasbench201-cifar10", "nasbench201"
#: what the text calls high
HIGH = 25.0
#: networks out of a sample whose FMI they span, trained at a size that runs here; the benchmark: 16 channels, 5 cells
LEARNT: Mapping[str, Any] = {
    **{"networks": 6, "among": 40, "seeds": 3, "epochs": 5, "batch": 96, "channels": 8, "cells": 1},
    "least": 11.0,
}


def spread_over(values: Floats, count: int) -> list[int]:
    """Places of so many values that are nearest to evenly spaced ones, each once, from the least to the largest.

    >>> spread_over(np.array([5.0, 0.0, 9.0, 4.0, 10.0]), 3)
    [1, 0, 4]
    """
    left, chosen = list(range(len(values))), list[int]()
    for goal in np.linspace(values.min(), values.max(), min(count, len(values))):
        place = min(left, key=lambda one: abs(float(values[one]) - goal))
        left.remove(place)
        chosen.append(place)
    return sorted(chosen, key=lambda one: float(values[one]))


@reproduction(
    "dextr-figure-1a-right",
    caption="Training losses of NAS-Bench-201 networks of low and of high feature-map independence (FMI)",
    judged=False,
    settings=LEARNT,
)
def figure_1a_right(workshop: Workshop) -> Iterator[Found]:
    """Training losses of networks that span FMI, and the rank correlation of FMI with the loss at fixed steps.

    FMI is that of the left panel; networks are chosen among `among` of the table whose accuracy is above `least` (chance is
    10 %), evenly over FMI, since the paper does not name its six. They are trained with recipe nasbench201 for `epochs`, with
    `channels` and `cells` a stage (the benchmark: 16 and 5), under `seeds` seeds. Intervals are over networks.
    """
    own = workshop.own(LEARNT)
    try:
        sample = workshop.sampled(BENCHMARK, size=own["among"])
    except Unavailable as why:
        yield Cell.missing("Spearman of FMI with the training loss", "after the first epoch", str(why))
        return
    fmi = workshop.measure(sample, {"fmi": dextr_on(BENCHMARK, "inverse_conditions")})["fmi"].values.mean(0)
    able = np.flatnonzero(np.isfinite(fmi) & (sample.truth > own["least"]))
    places = [int(able[one]) for one in spread_over(fmi[able], own["networks"])] if len(able) else []
    if len(places) < 3:
        few = f"{len(places)} networks of the sample are above {own['least']:g} %: fewer than three say nothing"
        yield Cell.missing("Spearman of FMI with the training loss", "after the first epoch", few)
        return
    names = [f"network-{number} (FMI {fmi[place]:.1f})" for number, place in enumerate(places, 1)]
    losses = np.array([_losses(workshop, sample.texts[place], own) for place in places])  # (networks, seeds, epochs)
    epochs = losses.shape[-1]
    looks = {
        0: "after the first epoch",
        epochs // 2: f"after {epochs // 2 + 1} epochs",
        epochs - 1: f"after {epochs} epochs",
    }
    for name, place, mine in zip(names, places, losses, strict=True):
        yield Cell(name, "fmi", mean_of_few([float(fmi[place])]))
        yield Cell(name, "accuracy in the table", mean_of_few([float(sample.truth[place])]))
        for look, words in looks.items():
            yield Cell(name, f"training loss {words}", mean_of_few(mine[:, look]))
    high = fmi[places] > HIGH
    for look, words in looks.items():
        found = correlation(fmi[places], losses[:, :, look].T, workshop.bootstrap)
        yield Cell("Spearman of FMI with the training loss", words, found, "the interval is over networks")
        if high.any() and not high.all():
            apart = losses[~high][:, :, look].mean(0) - losses[high][:, :, look].mean(0)
            yield Cell(f"FMI up to {HIGH:g} minus above it", words, mean_of_few(apart), "the interval is over seeds")
    points = [
        (float(epoch + 1), float(mine[:, epoch].mean()), float(mine[:, epoch].std()), name)
        for name, mine in zip(names, losses, strict=True)
        for epoch in range(epochs)
    ]
    x, y, bars, kinds = zip(*points, strict=True)
    text = f"training loss of {len(places)} networks of NAS-Bench-201 by their FMI, mean and deviation over seeds"
    yield Scatter("losses", text, "epoch", "training loss", x, y, bars, kinds=kinds)


def _losses(workshop: Workshop, text: str, own: Mapping[str, Any]) -> list[list[float]]:
    """The training loss of each epoch, under each seed."""
    space = get("nasbench201")
    network = printed(Candidate(space, space.parse(text), CIFAR), CIFAR, channels=own["channels"], cells=own["cells"])
    every = range(workshop.seed, workshop.seed + own["seeds"])
    return [[one.loss for one in trained(workshop, network, own, RECIPE, seed).history] for seed in every]

"""Dextr's figures of scores: independence against accuracy, how steady the score is, the score against accuracy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from foresee.errors import InputError
from foresee.papers.asked import Measured
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter, Unavailable
from foresee.papers.dextr.suite import PROXY_NETWORK, dextr_on
from foresee.papers.samples import Floats
from foresee.papers.workshop import Workshop
from foresee.scoring import score
from foresee.scoring.scorer import Scorer

#: Figure 2: so many networks between the two accuracies that the text quotes, each with so many images and circles
NETWORKS, INPUTS, QUOTED = 10, 10, (56.19, 89.9)


@reproduction("dextr-figure-1a", caption="Linear independence of feature maps (FMI) against accuracy on NAS-Bench-201")
def figure_1a(workshop: Workshop) -> Iterator[Found]:
    """The left panel: FMI, the sum of inverse condition numbers over all modules for one image, against accuracy.

    The panel is a picture; the text quotes 25 as the FMI above which networks converge fast. The rows give the correlation
    and the mean accuracy on both sides of it. The right panel, losses during training, is dextr-figure-1a-right.
    """
    try:
        sample = workshop.sampled("nasbench201-cifar10")
    except Unavailable as why:
        yield Cell.missing("fmi", "spearman", str(why))
        return
    fmi = workshop.measure(sample, {"fmi": dextr_on(sample.benchmark, "inverse_conditions")})["fmi"]
    yield workshop.cell("fmi", "spearman", fmi, sample.truth)
    mean = fmi.values.mean(0)
    for row, side in (("fmi-above-25", mean > 25), ("fmi-at-most-25", mean <= 25)):
        accuracies = sample.truth[side]
        yield (
            Cell(row, "accuracy", workshop.mean(accuracies))
            if len(accuracies)
            else Cell.missing(row, "accuracy", "no network of the sample")
        )
    yield scatter("fmi", sample.benchmark, "feature-map independence (FMI)", fmi, sample.truth, sample.target)


@reproduction("dextr-figure-2", judged=False, size=f"{NETWORKS} networks, {INPUTS} images and circles each")
def figure_2(workshop: Workshop) -> Iterator[Found]:
    """Mean and standard deviation of Dextr over 10 images and 10 circles, for 10 networks of 56 to 90 % accuracy.

    The paper does not name its networks: ours are those of the whole table nearest to ten accuracies evenly spaced between
    the two it quotes, so no agreement is claimed. Weights stay the same; image and circle change. Public code's form.
    """
    try:
        everyone = workshop.sampled("nasbench201-cifar10", everyone=True)
    except Unavailable as why:
        for row in ("best-network", "worst-network", "the-other-eight-networks"):
            for column in ("accuracy", "dextr-mean"):
                yield Cell.missing(row, column, str(why))
        return
    places = [int(np.abs(everyone.truth - goal).argmin()) for goal in np.linspace(*QUOTED, NETWORKS)]
    chosen = everyone.subset(list(dict.fromkeys(places)))
    values = np.array(workshop.each(chosen, steadiness, PROXY_NETWORK, count=INPUTS))
    for place, (accuracy, row_values) in enumerate(zip(chosen.truth, values, strict=True)):
        row = {0: "worst-network", len(chosen) - 1: "best-network"}.get(place, f"network-{place + 1}")
        yield Cell(row, "accuracy", workshop.mean(np.array([accuracy])))
        yield Cell(row, "dextr-mean", workshop.mean(row_values), f"standard deviation {row_values.std():.3f}")
    for column in ("accuracy", "dextr-mean"):
        others = f"ours are network-2 to network-{len(chosen) - 1}"
        yield Cell.missing("the-other-eight-networks", column, others)
    spread = values.std(1)
    workshop.note(f"standard deviations from {spread.min():.3f} to {spread.max():.3f}; the paper says 0.01 to 0.05")
    yield Scatter(
        "stability",
        f"mean and standard deviation of Dextr over {INPUTS} inputs, for {len(chosen)} networks of NAS-Bench-201",
        "test accuracy (%)",
        "Dextr",
        tuple(chosen.truth.tolist()),
        tuple(values.mean(1).tolist()),
        bars=tuple(spread.tolist()),
    )


def steadiness(scorer: Scorer, text: str, count: int) -> list[float]:
    """Dextr of one network with the same weights, for so many images and circles."""
    network, seed = scorer.candidate(text).build(), scorer.settings.seed
    asked = dextr_on("nasbench201-cifar10")
    images = scorer.data.batches(count, 1, seed=seed)
    found = [score(network, image, asked.proxy, seed=seed + place) for place, image in enumerate(images)]
    if not all(one.ok for one in found):
        raise InputError(f"{text}: Dextr has no value: {found[0].reason}")
    return [float(one.merit) for one in found]


@reproduction(
    "dextr-figure-5", caption="Dextr against accuracy on NAS-Bench-101, 201, 301 and TransNAS-Bench-101 micro"
)
def figure_5(workshop: Workshop) -> Iterator[Found]:
    """Scatter plots, with the correlation of each; the same scores as Dextr's row of Table 1.

    The figure does not say which task of TransNAS-Bench it shows: all three of Table 1 are drawn.
    """
    for benchmark in (
        "nasbench101",
        "nasbench201-cifar10",
        "nasbench301",
        "transnas-object",
        "transnas-scene",
        "transnas-jigsaw",
    ):
        try:
            sample = workshop.sampled(benchmark)
        except Unavailable as why:
            yield Cell.missing("dextr", benchmark, str(why))
            continue
        found = workshop.measure(sample, {"dextr": dextr_on(benchmark)})["dextr"]
        yield workshop.cell("dextr", benchmark, found, sample.truth)
        yield scatter(f"dextr-{benchmark}", benchmark, "Dextr", found, sample.truth, sample.target)


def scatter(name: str, benchmark: str, label: str, found: Measured, truth: Floats, target: str) -> Scatter:
    """Accuracy against the mean over repeats of a proxy, where it has a value."""
    x = found.values.mean(0)
    there = np.isfinite(x)
    text = f"{target} against {label} for {int(there.sum())} networks of {benchmark}"
    return Scatter(name, text, label, target, tuple(x[there].tolist()), tuple(truth[there].tolist()))

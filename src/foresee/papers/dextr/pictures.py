"""Dextr's pictures: outputs along a circle of inputs (Figure 1b), independence by layers (Figure 3), curvature (A.8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from foresee.errors import InputError
from foresee.insight.pictures import Independence, OutputCurve, independence, output_curve
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter, Unavailable
from foresee.papers.dextr.suite import PROXY_NETWORK
from foresee.papers.dextr.trained import CELLS
from foresee.papers.samples import Sample
from foresee.papers.trained import CIFAR, printed, searched
from foresee.papers.workshop import Workshop
from foresee.scoring import score
from foresee.scoring.scorer import Scorer
from foresee.statistics import spearman
from foresee.statistics.student import mean_of_few

BENCHMARK = "nasbench201-cifar10"
#: Figure 1b: so many networks, of accuracies evenly spaced between these (the picture's own are in it alone)
CURVES, BETWEEN = 6, (50.0, 94.0)
#: angles of a circle
POINTS = 96
#: a small image
IMAGE = (3, 32, 32)
#: Figure 3: the validation accuracies that the text quotes
QUOTED = {"high-performing": 89.43, "low-performing": 63.0}
#: the size of the cells that are found, and the circles over which their curvature is averaged
FOUND: Mapping[str, Any] = {"full": False, "channels": 16, "layers": 8, "draws": 4}


def nearest(everyone: Sample, goals: list[float]) -> Sample:
    """For each goal the architecture whose accuracy is nearest to it; none twice."""
    places = [int(np.abs(everyone.truth - goal).argmin()) for goal in goals]
    return everyone.subset(list(dict.fromkeys(places)))


def curve_of(scorer: Scorer, text: str, points: int) -> dict[str, Any]:
    """The outputs of one network along a circle, as plain values."""
    seed = scorer.settings.seed
    batch = scorer.data.batch(1, seed=seed)
    return output_curve(scorer.candidate(text).build(), batch, points=points, seed=seed).to_json()


def layers_of(scorer: Scorer, text: str) -> dict[str, Any]:
    """Feature-map independence of the layers of one network, as plain values."""
    seed = scorer.settings.seed
    return independence(scorer.candidate(text).build(), scorer.data.batch(1, seed=seed), seed=seed).to_json()


@reproduction(
    "dextr-figure-1b",
    judged=False,
    caption="Outputs of six networks along a circle of inputs, on their first principal components",
    settings={"points": POINTS},
    size=f"{CURVES} networks, {POINTS} points of a circle",
)
def figure_1b(workshop: Workshop) -> Iterator[Found]:
    """The outputs of six networks of NAS-Bench-201 for inputs on a circle, first against second principal component.

    The paper does not name its networks: ours have accuracies evenly spaced from 50 to 94 %. Every point is a batch
    of its own, as for Dextr's curvature. What the eye sees is measured as `turning`: by how many full turns the
    curve's direction changes in all output dimensions, 1 for an ellipse, whatever its size, as far as `points`
    resolve it; beside it the share of the first three components.
    """
    own = workshop.own({"points": POINTS})
    try:
        everyone = workshop.sampled(BENCHMARK, everyone=True)
    except Unavailable as why:
        yield Cell.missing("turning", "spearman", str(why))
        return
    chosen = nearest(everyone, np.linspace(*BETWEEN, CURVES).tolist())
    found = [OutputCurve.from_json(one) for one in workshop.each(chosen, curve_of, PROXY_NETWORK, points=own["points"])]
    for place, (accuracy, curve) in enumerate(zip(chosen.truth, found, strict=True), 1):
        row = f"network-{place}"
        yield Cell(row, "accuracy", mean_of_few(np.array([accuracy])))
        shares = " ".join(f"{100 * share:.0f} %" for share in curve.shares)
        yield Cell(row, "turning", mean_of_few(np.array([curve.turning])), f"components have {shares} of the variance")
        closed = [*curve.points, curve.points[0]]
        words = f"outputs of a network of {accuracy:.2f} % along a circle of {len(curve.points)} inputs"
        yield Scatter(
            f"curve-{place}",
            f"{words}: {curve.turning:.1f} turns",
            "first principal component",
            "second principal component",
            tuple(point[0] for point in closed),
            tuple(point[1] if len(point) > 1 else 0.0 for point in closed),
        )
    turning = np.array([curve.turning for curve in found])
    yield Cell("turning", "spearman", mean_of_few(np.array([spearman(turning, chosen.truth)])), f"n = {len(chosen)}")


@reproduction(
    "dextr-figure-3",
    judged=False,
    caption="Linear independence of the outputs of each layer, of a good and a bad network",
    size="two networks, one image",
)
def figure_3(workshop: Workshop) -> Iterator[Found]:
    """1 over the condition number of every layer's feature maps, in the order of the calls, of two networks of NAS-Bench-201.

    The networks are those of the table whose validation accuracy is nearest to what the text quotes, 89.43 and 63 %
    (the paper does not name them). Layers are leaf modules; one image; the networks of the public proxy code.
    """
    try:
        everyone = workshop.sampled(BENCHMARK, everyone=True, targets=("val_acc_cifar10", "test_acc_cifar10"))
    except Unavailable as why:
        for row in QUOTED:
            yield Cell.missing(row, "fmi", str(why))
        return
    chosen = nearest(everyone, list(QUOTED.values()))
    found = [Independence.from_json(one) for one in workshop.each(chosen, layers_of, PROXY_NETWORK)]
    for row, accuracy, profile in zip(QUOTED, chosen.truth, found, strict=False):
        values = np.array([layer.value for layer in profile.layers])
        yield Cell(row, "accuracy", mean_of_few(np.array([accuracy])))
        yield Cell(row, "fmi", mean_of_few(np.array([profile.total])), f"the sum over {len(values)} layers")
        yield Cell(row, "mean-fmi", workshop.mean(values), "over layers")
        yield Scatter(
            row,
            f"independence of the maps of {len(values)} layers of a network of {accuracy:.2f} %, mean {values.mean():.3f}",
            "layer, in the order of the calls",
            "1 / condition number",
            tuple(float(place) for place in range(len(values))),
            tuple(values.tolist()),
        )


@reproduction("dextr-curvature-a8", judged=False, by_data=True, settings=FOUND)
def curvature_a8(workshop: Workshop) -> Iterator[Found]:
    """Curvature of the outputs of the cells that Dextr, ZiCo and MeCo find by operation scoring (their presets).

    Public code's form (radius 1, 10 drawn outputs), the geometric mean over `draws` circles, networks for 32x32 images of
    `channels` and `layers`. Where the outputs are small the curvature is large, so its size depends on that of the
    network: the rows are compared with each other. `full` searches at the published size.
    """
    own = workshop.own(FOUND)
    shape = {"channels": own["channels"], "layers": own["layers"]}
    for row, preset in {row: CELLS[row] for row in ("dextr", "zico", "meco")}.items():
        picks = searched(workshop, preset, full=own["full"])
        networks = [printed(one, CIFAR, **shape).build(seed=workshop.seed) for one in picks]
        values = [_curvature(workshop, network, own["draws"]) for network in networks]
        each = np.array([np.exp(np.mean(np.log(one))) for one in values])
        words = f"{min(map(min, values)):.3g} to {max(map(max, values)):.3g} over {own['draws']} circles"
        yield Cell(row, "curvature", mean_of_few(each), words)


def _curvature(workshop: Workshop, network: nn.Module, draws: int) -> list[float]:
    """The curvature along so many circles."""
    batch = torch.zeros(1, *IMAGE)
    found = [score(network, batch, "curvature:reference", seed=workshop.seed + draw) for draw in range(draws)]
    if not all(one.ok for one in found):
        raise InputError(f"the curvature has no value: {found[0].reason}")
    return [float(one.merit) for one in found]

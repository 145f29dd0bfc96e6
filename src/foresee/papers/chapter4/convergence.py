"""Chapter 4 of the thesis, how fast cells learn and how good they get: Figures 4.3, 4.4, 4.5 and 4.10.

All trainings of a data set are shared among the figures, and kept beside the scores (`--cache`, `--out`): none is done twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from foresee.insight.convergence import converge
from foresee.insight.studies import Study
from foresee.insight.variants import Kind, Variant, spanning, variants_of
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter
from foresee.papers.chapter4.cells import BASES, exactly
from foresee.papers.searches import folder
from foresee.papers.trained import CIFAR
from foresee.papers.workshop import Workshop
from foresee.spaces.darts.named import NAMED
from foresee.statistics.student import mean_of_few

#: the size that runs on two cores in minutes; the thesis: 36 channels, 20 cells, 600 epochs
LEARNT: Mapping[str, Any] = {
    "epochs": 5,
    "channels": 4,
    "layers": 3,
    "batch": 80,
    "seeds": 3,
    "variants": 4,
    "rate": 0.025,
}
RATES = (0.0025, 0.25)


def popular(base: str, count: int, seed: int, kind: Kind = "connections", *, span: bool = False) -> list[Variant]:
    """A popular cell, and so many variants of it; with `span` narrower ones that span the widths, of six times as many."""
    cell = Variant(base, NAMED[BASES[base]])
    many = variants_of(cell.architecture, 6 * count if span else count, kind=kind, seed=seed)
    if span:
        many = [one for one in many if one.width < cell.width]
        many = spanning(many, count) if count > 1 else many[:1]
    return [cell, *many]


def study(workshop: Workshop, cells: Sequence[Variant], own: Mapping[str, Any], rates: Sequence[float]) -> Study:
    """The cells trained alike on the workshop's data, at the size of these settings."""
    data = workshop.looked_at()
    return converge(
        cells,
        data,
        epochs=own["epochs"],
        rates=tuple(float(rate) for rate in rates),
        seeds=tuple(range(workshop.seed, workshop.seed + own["seeds"])),
        task=CIFAR,
        size={"channels": own["channels"], "layers": own["layers"]},
        device=workshop.device,
        out=folder(workshop, "studies", [data]),
        observers=workshop.observers,
        batch=own["batch"],
    )


def cells_of(found: Study, prefix: str = "", rate: float | None = None) -> Iterator[Cell]:
    """Of each cell its shape, and what it had after the first look, half of the steps, and all of them."""
    steps = found.steps
    looks = dict.fromkeys((steps[0], steps[len(steps) // 2], steps[-1])) if steps else {}
    for place, one in enumerate(found.cells):
        row = f"{prefix}{one.name}"
        yield Cell(row, "width", exactly(one.width))
        yield Cell(row, "depth", exactly(one.depth))
        for step in looks:
            for measure, words, scale in (("val_loss", "loss", 1.0), ("val_accuracy", "accuracy (%)", 100.0)):
                values = scale * found.values(measure, step=step, rate=rate)[:, place]  # type: ignore[arg-type]
                yield _mean(row, f"{words} after {step} steps", values)


def summary(found: Study, prefix: str = "", rate: float | None = None) -> Iterator[Cell]:
    """What width and depth have to do with it, in numbers."""
    for step in dict.fromkeys((found.steps[0], found.steps[len(found.steps) // 2], found.steps[-1])):
        column = f"after {step} steps"
        for shape in ("width", "depth"):
            estimate = found.agreement(shape, step=step, rate=rate)
            yield Cell(f"{prefix}Spearman of {shape} with loss", column, estimate, "the interval is over cells")
        gap = found.gap(step=step, rate=rate)
        if np.isfinite(gap.value):
            yield Cell(f"{prefix}loss, narrowest third minus widest", column, gap, "the interval is over seeds")


def curves(found: Study, name: str, rate: float | None = None) -> Iterator[Scatter]:
    """Loss and accuracy over steps, a line for each cell; bars are the standard deviation over seeds that did not diverge."""
    lr = found.rates[0] if rate is None else rate
    for measure, words, scale in (
        ("val_loss", "validation loss", 1.0),
        ("val_accuracy", "validation accuracy (%)", 100.0),
    ):
        points = []
        for step in found.steps:
            values = scale * found.values(measure, step=step, rate=lr)  # type: ignore[arg-type]
            for place, one in enumerate(found.cells):
                there = values[:, place][np.isfinite(values[:, place])]
                if len(there):
                    points.append((step, float(there.mean()), float(there.std()), str(one)))
        if points:
            steps, means, spreads, kinds = zip(*points, strict=True)
            text = f"{words} while cells are trained at rate {lr:g}, mean over seeds"
            x = tuple(map(float, steps))
            yield Scatter(f"{name}-{measure}", text, "steps", words, x, means, spreads, kinds=kinds)


@reproduction(
    "thesis-figure-4.3",
    caption="Loss and accuracy of DARTS and its randomly connected variants while they are trained",
    by_data=True,
    settings=LEARNT,
)
def figure_4_3(workshop: Workshop) -> Iterator[Found]:
    """The DARTS cell and `variants` that span the widths, trained alike without regularisation (recipe ch4_cifar).

    The thesis trains 36 channels and 20 cells for 600 epochs; here it is `channels`, `layers`, `epochs`, under `seeds` seeds.
    Losses and accuracies are of validation data. Rows "Spearman ..." are rank correlations over the cells, mean over seeds.
    """
    own = workshop.own(LEARNT)
    found = study(workshop, popular("darts", own["variants"], workshop.seed, span=True), own, [own["rate"]])
    yield from cells_of(found)
    yield from summary(found)
    yield from curves(found, "darts")


@reproduction(
    "thesis-figure-4.4",
    caption="Accuracy of DARTS and two of its variants under a small and a large learning rate",
    by_data=True,
    settings={**LEARNT, "variants": 2, "rates": RATES},
)
def figure_4_4(workshop: Workshop) -> Iterator[Found]:
    """As Figure 4.3 under other learning rates. A training that diverges counts as the worst, and how many did is said."""
    own = workshop.own({**LEARNT, "variants": 2, "rates": RATES})
    found = study(workshop, popular("darts", own["variants"], workshop.seed, span=True), own, own["rates"])
    for rate in found.rates:
        yield from cells_of(found, f"rate-{rate:g}/", rate)
        yield from summary(found, f"rate-{rate:g}/", rate)
        yield from curves(found, f"darts-{rate:g}", rate)
        lost = [one.cell for one in found.curves if one.rate == rate and one.reason]
        if lost:
            workshop.note(f"rate {rate:g}: diverged under some seed: {', '.join(sorted(set(lost)))}")


@reproduction(
    "thesis-figure-4.5",
    caption="Accuracy of popular cells and their variants with random operations while they are trained",
    by_data=True,
    settings={**LEARNT, "variants": 3, "bases": ("darts",)},
)
def figure_4_5(workshop: Workshop) -> Iterator[Found]:
    """Popular cells (`bases`) and variants with the same connections and random operations, trained as in Figure 4.3.

    The row "spread" is the standard deviation of the final loss over the variants, to be read beside that of random
    connections with as many variants.
    """
    own = workshop.own({**LEARNT, "variants": 3, "bases": ("darts",)})
    for base in own["bases"]:
        for kind in ("operations", "connections"):
            found = study(workshop, popular(base, own["variants"], workshop.seed, kind), own, [own["rate"]])
            values = found.values()
            yield _mean(
                f"{base}/spread of the loss over random {kind}", f"after {found.steps[-1]} steps", values.std(1)
            )
            if kind == "operations":
                yield from cells_of(found, f"{base}/")
                yield from curves(found, base)


@reproduction(
    "thesis-figure-4.10",
    caption="Test accuracy of popular cells and of randomly connected variants at the end of training",
    by_data=True,
    settings={**LEARNT, "variants": 6, "bases": ("darts",)},
)
def figure_4_10(workshop: Workshop) -> Iterator[Found]:
    """Popular cells and randomly connected variants, trained as in Figure 4.3; the best epoch, judged on test data.

    "foretold" is the rank correlation of the loss after the first epoch with the test accuracy at the end: at -1 whoever
    learns fast ends best. The thesis has 13 variants, and trains 600 epochs.
    """
    own = workshop.own({**LEARNT, "variants": 6, "bases": ("darts",)})
    for base in own["bases"]:
        found = study(workshop, popular(base, own["variants"], workshop.seed), own, [own["rate"]])
        accuracies = 100 * found.tests()
        for place, one in enumerate(found.cells):
            yield Cell(f"{base}/{one.name}", "width", exactly(one.width))
            yield Cell(f"{base}/{one.name}", "depth", exactly(one.depth))
            yield _mean(f"{base}/{one.name}", "test accuracy (%)", accuracies[:, place])
        means = accuracies.mean(0)
        better = int((means[1:] > means[0]).sum())
        workshop.note(f"{base}: {better} of {len(means) - 1} variants end above the cell itself")
        for shape in ("width", "depth"):
            ends = found.ends(shape)
            yield Cell(
                f"{base}/Spearman of {shape} with test accuracy", "at the end", ends, "the interval is over cells"
            )
        yield Cell(f"{base}/foretold by the loss after one epoch", "at the end", found.foretold())
        there = np.isfinite(accuracies)
        spreads = [
            float(column[known].std()) if known.any() else 0.0
            for column, known in zip(accuracies.T, there.T, strict=True)
        ]
        kept = [place for place in range(len(means)) if np.isfinite(means[place])]
        yield Scatter(
            f"{base}-accuracy",
            f"test accuracy of {base} (0) and its variants, from the narrowest to the widest; bars are over seeds",
            "cell",
            "test accuracy (%)",
            tuple(float(place) for place in kept),
            tuple(float(means[place]) for place in kept),
            tuple(spreads[place] for place in kept),
        )


def _mean(row: str, column: str, values: Iterable[float]) -> Cell:
    """The mean over seeds; of some that diverged, none."""
    known = np.asarray(list(values), float)
    lost = int((~np.isfinite(known)).sum())
    if lost:
        return Cell.missing(row, column, f"diverged under {lost} of {len(known)} seeds")
    return Cell(row, column, mean_of_few(known))

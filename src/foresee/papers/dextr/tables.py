"""Dextr's tables: its correlations, its two terms alone, the size space."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from foresee.papers.asked import Asked, Measured
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Unavailable
from foresee.papers.dextr.suite import PROXY_NETWORK, dextr_on, suite, suite_targets
from foresee.papers.rows import Made, Rows, correlation_cells
from foresee.papers.samples import BENCHMARKS
from foresee.papers.workshop import Workshop
from foresee.probes.probe import Probe
from foresee.scoring.scorer import Scorer
from foresee.spaces.four_nodes import Cell as FourNodes


def harmonic_mean(first: Measured, second: Measured) -> Measured:
    """2ab / (a + b), architecture by architecture."""
    a, b = first.values, second.values
    return Measured(2 * a * b / (a + b), reasons={**first.reasons, **second.reasons})


def regularised(swap: Measured, params: Measured) -> Measured:
    """SWAP times exp(-(p - mu)^2 / sigma), p the parameters, mu the largest of them and sigma = mu^2.

    Peng et al. choose mu and sigma by space and Dextr does not print them; these two see sizes only, no accuracy.
    """
    sizes = params.values
    mu = np.nanmax(sizes)
    return Measured(swap.values * np.exp(-((sizes / mu - 1) ** 2)), reasons=swap.reasons)


@reproduction("dextr-table-1", by_row=True)
def table_1(workshop: Workshop) -> Iterator[Found]:
    """Spearman with the benchmark's accuracy: test accuracies for Dextr and MeCo, validation accuracies for what is quoted.

    Dextr and MeCo are the public code's forms (`:reference`; on NAS-Bench-201 one image and the circle at 64x64, on the
    networks of the public proxy code; elsewhere a batch of 32). The gradient proxies are zero-cost-nas' forms at the batch of
    NAS-Bench-Suite-Zero, 32; ZiCo takes two such batches. SWAP is one draw of weights; the paper's mu and sigma are not
    printed: mu is the largest number of parameters of the sample, sigma its square. The paper's numbers for all but Dextr
    and MeCo are those of Peng et al. (2024), from NAS-Bench-Suite-Zero, which judges by validation accuracy: on all 15,625
    cells of NAS-Bench-201 #params has 0.715 with it, as printed (0.72), and 0.753 with the test accuracy.
    """
    for column in BENCHMARKS:
        if not column.startswith(("transnas", "nasbench101", "nasbench201", "nasbench301")):
            continue
        rows: Rows = {name: suite(name.replace("-", "_")) for name in ("grasp", "fisher", "grad-norm", "snip", "zico")}
        rows |= {"synflow": Asked("synflow"), "params": Asked("params")}
        rows |= {
            "swap": Asked("swap:reference", batch_size=16),
            "swap-reg": Made(("swap", "params"), regularised),
        }
        yield from correlation_cells(workshop, column, rows, hidden=("swap",), targets=suite_targets(column))
        rows = {"meco": dextr_on(column, "meco"), "dextr": dextr_on(column)}
        yield from correlation_cells(workshop, column, rows)


@reproduction("dextr-table-4", by_row=True)
def table_4(workshop: Workshop) -> Iterator[Found]:
    """Spearman on NAS-Bench-201 of Dextr's two terms alone, and of other proxies of the same kind.

    The terms are those of the public code on one image: the sum of inverse condition numbers over all modules, the curvature
    along the circle at 64x64 with 10 drawn outputs; logarithms do not change ranks. ZiCo: two batches of 32. Zen: the form
    with running statistics, which those networks do not have, so it runs on the benchmark's own. HM is 2ab / (a + b).
    """
    for column in ("nasbench201-cifar10", "nasbench201-cifar100", "nasbench201-imagenet16"):
        rows: Rows = {
            "log-1-c-x": dextr_on(column, "inverse_conditions"),
            "zico": suite("zico"),
            "log-1-kappa": dextr_on(column, "curvature"),
            "zen": Asked("zen:reference"),
            "hm-zen-zico": Made(("zen", "zico"), harmonic_mean),
            "dextr": dextr_on(column),
        }
        yield from correlation_cells(workshop, column, rows)


@reproduction("dextr-table-5")
def table_5(workshop: Workshop) -> Iterator[Found]:
    """Share of layers whose feature map's largest singular value is at least 1, in percent, mean over networks.

    Layers are leaf modules; the map is (channels, positions) of one image, in float64. An operation `none` whose zeros are
    added to something is left out of our networks and no layer; beside it stands the share with these as layers, which they
    are in the public code. Agreement is within 3 percent points plus half of our interval.
    """
    for row, benchmark in (
        ("nasbench101", "nasbench101"),
        ("nasbench201", "nasbench201-cifar10"),
        ("nasbench301", "nasbench301"),
    ):
        column = "layers-with-sigma-max-ge-1"
        try:
            sample = workshop.sampled(benchmark)
        except Unavailable as why:
            yield Cell.missing(row, column, str(why))
            continue
        network = PROXY_NETWORK if sample.space in ("nasbench201", "nasbench101") else {}
        reached, layers, none = np.array(workshop.each(sample, unit_layers, network)).T
        words = f"{100 * np.mean(reached / (layers + none)):.2f} with every none as a layer" if none.any() else ""
        yield Cell(row, column, workshop.mean(100 * reached / layers), words)


def unit_layers(scorer: Scorer, text: str) -> tuple[int, int, int]:
    """Layers of one network with a largest singular value of at least 1; all its layers; operations `none` left out of it."""
    batch, network = scorer.data.batch(1, seed=scorer.settings.seed), scorer.candidate(text).build()
    features = Probe(network, batch, seed=scorer.settings.seed).sample.see("features")
    cells = [module for module in network.modules() if isinstance(module, FourNodes)]
    left_out = sum(len(cell.edges) - sum(map(len, cell.computed)) for cell in cells)
    return sum(reaches_one(feature.map.double()) for feature in features), len(features), left_out


def reaches_one(matrix: torch.Tensor) -> bool:
    """Whether the largest singular value is at least 1.

    It is at least the length of any row or column and at most that of all entries. Only where 1 lies between these is it
    computed, from the smaller of the two products.
    """
    squares = matrix.square()
    if max(squares.sum(0).max(), squares.sum(1).max()) >= 1:
        return True
    if squares.sum() < 1:
        return False
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.mT
    return bool(torch.linalg.eigvalsh(wide @ wide.mT)[-1] >= 1)


@reproduction("dextr-table-6", by_row=True)
def table_6(workshop: Workshop) -> Iterator[Found]:
    """Spearman on the size space.

    Gradient proxies: zero-cost-nas' forms at its batch of 64; ZiCo two batches of 64. NTK: condition number of TE-NAS' kernel
    of 16 samples, less being better, on the network itself (TE-NAS takes a thin one). Zen: with running statistics. MeCo and
    Dextr: the public code's forms, one image, Dextr's circle at 64x64.
    """
    for column in ("nats-sss-cifar10", "nats-sss-cifar100", "nats-sss-imagenet16"):
        rows: Rows = {
            name: Asked(name.replace("-", "_"), batch_size=64)
            for name in ("fisher", "snip", "grasp", "grad-norm", "zico")
        }
        rows |= {"params": Asked("params"), "synflow": Asked("synflow"), "zen": Asked("zen:reference")}
        rows |= {"ntk": Asked("ntk_cond:tenas", batch_size=16)}
        rows |= {"meco": dextr_on(column, "meco"), "dextr": dextr_on(column)}
        yield from correlation_cells(workshop, column, rows)


@reproduction("dextr-table-7", by_row=True)
def table_7(workshop: Workshop) -> Iterator[Found]:
    """Spearman on the size space of Dextr and of its form with 8 drawn channels per layer (Eq. 22), one image each.

    Both in the public code's form; Dextr's circle at 64x64.
    """
    for column in ("nats-sss-cifar10", "nats-sss-cifar100", "nats-sss-imagenet16"):
        rows: Rows = {"dextr": dextr_on(column), "dextr-opt": dextr_on(column, "dextr_opt")}
        yield from correlation_cells(workshop, column, rows)

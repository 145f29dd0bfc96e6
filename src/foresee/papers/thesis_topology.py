"""Chapter 7 of the thesis: M_Trace and kappa of published cells, of the widest and of the deepest (Table 7.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from foresee.insight.kernels import kernel_spectrum
from foresee.insight.variants import deepest, variants_of, widest
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found
from foresee.papers.trained import CIFAR
from foresee.papers.workshop import Workshop
from foresee.scoring.scorer import Scorer
from foresee.scoring.settings import ScoringSettings
from foresee.spaces.candidate import Candidate
from foresee.spaces.darts.cells import Architecture, depth, width
from foresee.spaces.darts.named import NAMED
from foresee.spaces.find import get
from foresee.statistics.student import mean_of_few

#: the networks that are looked at; the thesis does not say its own for this table, elsewhere it has 64 samples
REDUCED: Mapping[str, Any] = {"channels": 4, "layers": 5, "samples": 16, "draws": 3, "random": 3}
#: row -> the published cell
KNOWN = {"nasnet": "NASNet_A", "amoebanet": "AmoebaNet_A", "enas": "ENAS", "darts": "DARTS_V2", "snas": "SNAS"}


def contestants(count: int, seed: int) -> dict[str, Architecture]:
    """The rows: published cells, DARTS' operations connected the widest and the deepest way, and in so many random ones."""
    like = NAMED["DARTS_V2"]
    found = {row: NAMED[name] for row, name in KNOWN.items()} | {"wide": widest(like), "deep": deepest(like)}
    others = variants_of(like, count, seed=seed) if count else []
    return found | {f"random-{place}": one.architecture for place, one in enumerate(others, 1)}


@reproduction("thesis-table-7.2", judged=False, by_data=True, settings=REDUCED)
def table_7_2(workshop: Workshop) -> Iterator[Found]:
    """Width and depth of the normal cell, M_Trace and kappa of the network's kernel, mean over `draws` of LeCun's weights.

    The thesis does not say how large its networks were, so only width and depth can agree in number; for M_Trace and
    kappa it is the order that counts: DEEP has the largest of both. WIDE and DEEP are the operations of DARTS (second
    order) in both cells, every node reading the two inputs, or the two nodes before it; which operations the thesis
    took is not said. The kernel is that of the samples' own classes by convolutions and linear layers, `samples`
    samples of --data. The rows random-1, ... are the same operations connected at random, from narrow to wide,
    without a number in the thesis.
    """
    own = workshop.own(REDUCED)
    asked = ScoringSettings(
        proxies=("params",), seed=workshop.seed, data=workshop.looked_at(), inputs=CIFAR.inputs, outputs=CIFAR.outputs
    )
    shape = {"channels": own["channels"], "layers": own["layers"]}
    batch = Scorer("darts", asked, space_settings=shape).data.batch(own["samples"], seed=workshop.seed)
    space = get("darts", **shape)
    found: dict[str, tuple[float, float]] = {}
    for row, architecture in contestants(own["random"], workshop.seed).items():
        nodes = len(architecture.normal.edges) // 2
        for column, value in (
            ("width", width(architecture.normal)),
            ("width-max", float(nodes)),
            ("depth", float(depth(architecture.normal))),
            ("depth-max", float(nodes + 1)),
        ):
            yield Cell(row, column, mean_of_few(np.array([value])))
        network = Candidate(space, architecture, CIFAR).build(seed=workshop.seed).to(workshop.device)
        kernels = [
            kernel_spectrum(network, batch, initialise="lecun", seed=workshop.seed + draw)
            for draw in range(own["draws"])
        ]
        traces = np.array([one.m_trace for one in kernels])
        conditions = np.array([np.nan if one.condition is None else one.condition for one in kernels])
        yield Cell(row, "trace", mean_of_few(traces), _spread(traces))
        yield Cell(row, "kappa", mean_of_few(conditions), _spread(conditions))
        found[row] = float(traces.mean()), float(conditions.mean())
    for name, place in (("M_Trace", 0), ("kappa", 1)):
        order = sorted(found, key=lambda row: -found[row][place])
        workshop.note(f"{name}, largest first: {', '.join(order)}")


def _spread(values: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    return f"standard deviation {values.std(ddof=1):.3g} over {len(values)} draws" if len(values) > 1 else ""

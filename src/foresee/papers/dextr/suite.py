"""How Dextr's tables ask for proxies: as NAS-Bench-Suite-Zero and the public codes compute them."""

from __future__ import annotations

from foresee.papers.asked import Asked
from foresee.papers.samples import BENCHMARKS

#: the batch of NAS-Bench-Suite-Zero, with which the papers ran the gradient proxies
SUITE_BATCH = 32
#: the networks the public proxy codes build: batch norm without scale and statistics (201), PyTorch's first weights (101)
PROXY_NETWORK = {"variant": "reference"}


def suite(proxy: str) -> Asked:
    """A proxy as NAS-Bench-Suite-Zero asks for it: 32 samples, the benchmark's own network."""
    return Asked(proxy, batch_size=SUITE_BATCH)


def suite_targets(benchmark: str) -> tuple[str, ...]:
    """The suite's accuracies: validation accuracies come first."""
    return tuple(sorted(BENCHMARKS[benchmark].targets, key=lambda target: not target.startswith("val")))


def dextr_on(benchmark: str, proxy: str = "dextr") -> Asked:
    """Dextr, MeCo or a part of Dextr as the public code computes it there.

    On NAS-Bench-201 and the size space: one image, and Dextr's circle at 64x64. Elsewhere through the suite: 32 images, whose
    statistics BatchNorm takes, of which the first is decomposed, and the circle at the input's size.
    """
    space = BENCHMARKS[benchmark].space
    alone = space in ("nasbench201", "nats_size")
    variant = "reference_nb201" if alone and proxy in ("dextr", "curvature") else "reference"
    network = PROXY_NETWORK if space in ("nasbench201", "nasbench101") else {}
    return Asked(f"{proxy}:{variant}", batch_size=1 if alone else SUITE_BATCH, space_settings=network)

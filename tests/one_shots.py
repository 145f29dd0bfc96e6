"""Tiny one-shot networks of every space that has one, with inputs for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from foresee.batch import Batch
from foresee.data import Data
from foresee.data.arrays import Arrays
from foresee.data.features import Features
from foresee.seeds import generator
from foresee.spaces.autoformer import AutoFormerTiny
from foresee.spaces.base import Space
from foresee.spaces.darts import DARTS, DARTSNASI
from foresee.spaces.mobile import Mobile
from foresee.spaces.nasbench1shot1 import NASBench1Shot1S1, NASBench1Shot1S2, NASBench1Shot1S3
from foresee.spaces.nasbench201 import NASBench201
from foresee.spaces.nasbench_macro import NASBenchMacro
from foresee.spaces.nasrec import NASRecFull, NASRecSmall
from foresee.spaces.nats_size import NATSSize
from foresee.spaces.one_shot import OneShot
from foresee.spaces.transnas import TransNASMicro
from foresee.task import Task

IMAGES = Task((3, 8, 8), 3)
CLICKS = Task((3,), 1, vocabularies=(4, 5, 6))
NASREC: dict[str, Any] = {"blocks": 2, "dense_widths": (8, 16), "sparse_widths": (3, 5)}


@dataclass(frozen=True)
class Case:
    """A tiny space, the form of its one-shot network, and its task."""

    make: Callable[[], Space[Any]]
    form: dict[str, Any] = field(default_factory=dict)
    task: Task = IMAGES

    def space(self) -> Space[Any]:
        return self.make()

    def one_shot(self, seed: int = 0) -> OneShot[Any]:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return self.space().one_shot(self.task, **self.form)

    def data(self, samples: int = 24, seed: int = 0) -> Data:
        """Samples whose label can be told from them."""
        draws = generator(seed, "samples")
        dense = torch.randn(samples, *self.task.inputs, generator=draws)
        if self.task.vocabularies:
            sparse = torch.stack([torch.randint(n, (samples,), generator=draws) for n in self.task.vocabularies], 1)
            return Features(dense, sparse, (dense[:, 0] > 0).long(), vocabularies=self.task.vocabularies)
        labels = torch.arange(samples) % self.task.outputs
        return Arrays(dense + labels.view(-1, 1, 1, 1), labels)

    def batch(self, samples: int = 8, seed: int = 0) -> Batch:
        return self.data(samples, seed).batch(samples)


CASES = {
    "nasbench201": Case(lambda: NASBench201(channels=4, cells=1)),
    "nasbench201_partial": Case(lambda: NASBench201(channels=4, cells=1), {"partial": 2}),
    "transnas": Case(lambda: TransNASMicro(channels=2)),
    "nasbench1shot1_1": Case(NASBench1Shot1S1, {"channels": 2, "cells": 3}),
    "nasbench1shot1_2": Case(NASBench1Shot1S2, {"channels": 2, "cells": 3}),
    "nasbench1shot1_3": Case(NASBench1Shot1S3, {"channels": 2, "cells": 3}),
    "darts": Case(DARTS, {"channels": 4, "layers": 3}),
    "darts_partial": Case(DARTS, {"channels": 4, "layers": 3, "partial": 2, "edge_normalisation": True}),
    "darts_nasi": Case(DARTSNASI, {"channels": 2, "layers": 3}),
    "nats_size": Case(lambda: NATSSize(step=2)),
    "nasbench_macro": Case(lambda: NASBenchMacro(channels=2, head=4)),
    "mobile": Case(lambda: Mobile(widths=(4, 8), strides=(1, 2), layers=(1, 2), stem=4, first=4, head=8)),
    "mobile_by_layer": Case(
        lambda: Mobile(
            design="mobilenet_v3",
            widths=(4, 6),
            strides=(2, 1),
            expansions=(1, 3),
            layers=(1, 2),
            squeeze="free",
            stem=4,
            first=0,
            stem_stride=1,
            head=6,
            features=5,
        )
    ),
    "autoformer": Case(
        lambda: AutoFormerTiny(
            embed=(8, 12), mlp=(1.5, 2.0), heads=(1, 2), depth=(1, 2, 3), patch=4, head_dim=4, reach=3
        )
    ),
    "nasrec_small": Case(lambda: NASRecSmall(**NASREC), task=CLICKS),
    "nasrec_full": Case(lambda: NASRecFull(**NASREC), task=CLICKS),
}

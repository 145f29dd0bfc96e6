"""Random search with parameter sharing: random paths are trained, many are judged, the best is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch

from foresee.searchers.base import searchers
from foresee.searchers.one_shot.drawn import Drawn
from foresee.seeds import generator
from foresee.spaces.one_shot import gumbel


@searchers.register("rsps")
class RSPS(Drawn):
    """Random search with parameter sharing (Li & Talwalkar 2020): the baseline of all one-shot searches.

    Each batch of the training half trains the path of one architecture, drawn uniformly. Then many are drawn and judged by
    the shared weights on the validation half.
    """

    name = "rsps"
    summary = "random search with parameter sharing: random paths trained, many judged, the best kept"
    source = "Li & Talwalkar 2020, Sec. 3.2; NAS-Bench-201, its baseline"
    cost = "an epoch: one drawn network forward and backward on the training half; then forward runs; no scores"
    epochs = 250
    draws = 1000
    again = 10
    published: ClassVar[Mapping[str, str]] = {
        "epochs": "250 in NAS-Bench-201's baseline",
        "batch": "64",
        "lr": "0.025 (as DARTS)",
        "lr_min": "0.001 (as DARTS)",
        "momentum": "0.9 (as DARTS)",
        "weight_decay": "3e-4 (as DARTS)",
        "clip": "5 (as DARTS)",
        "crop": "4",
        "flip": "true",
        "draws": "1000 in the released code; 100 in NAS-Bench-201's baseline",
        "looks": "1",
        "again": "10 in the released code; 0 in NAS-Bench-201's baseline",
    }

    def learn(self, number: int) -> Mapping[str, float]:
        """One path for one batch."""
        path = self.network.path(self.draw(generator(self.problem.seed, self.name, "path", number)))
        return {"loss": self.descend(self.loss(self.training(number), path))}

    def draw(self, numbers: torch.Generator) -> Any:
        """Uniformly."""
        return self.network.derive({name: gumbel(vector, numbers) for name, vector in self.network.uniform().items()})

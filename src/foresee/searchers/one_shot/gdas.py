"""GDAS: one drawn architecture at a time, with the gradient of what was drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor

from foresee.searchers.base import searchers
from foresee.searchers.one_shot.relaxed import Relaxed
from foresee.searchers.problem import Problem
from foresee.training.schedules import straight


@searchers.register("gdas")
class GDAS(Relaxed):
    """Gradient-based search by a differentiable sampler (Dong & Yang 2019, Algorithm 1).

    For each pair of batches one architecture is drawn by Gumbel noise for a step of the weights on the training loss, and
    another one for a step of the logits on the validation loss. A draw is hard (straight through): its value is one
    architecture, and only what was drawn is computed, so a step costs about one network. The temperature of the softmax
    behind the gradient falls in a straight line over the epochs.

    Args:
        hot: temperature in the first epoch.
        cold: temperature in the last one.
    """

    name = "gdas"
    summary = "GDAS: hard draws whose logits have the gradient of what was drawn"
    source = "Dong & Yang 2019 (GDAS), Algorithm 1"
    cost = "an epoch: one drawn network forward and backward on both halves; no scores"
    settings = ("hot", "cold")
    epochs = 240
    hot: float = 10.0
    cold: float = 0.1
    published: ClassVar[Mapping[str, str]] = {
        "epochs": "240 (Sec. 4.2); 250 in NAS-Bench-201's baseline",
        "batch": "64 (Sec. 4.2)",
        "lr": "0.025 (Sec. 4.2)",
        "lr_min": "0.001 (Sec. 4.2)",
        "momentum": "0.9 (Sec. 4.2)",
        "weight_decay": "3e-4 (Sec. 4.2)",
        "clip": "5 (Sec. 4.2)",
        "crop": "4 (Sec. 4.2)",
        "flip": "true (Sec. 4.2)",
        "arch_lr": "3e-4 (Sec. 4.2)",
        "arch_decay": "1e-3 (Sec. 4.2)",
        "hot": "10 (Sec. 4.2)",
        "cold": "0.1 (Sec. 4.2)",
        "one_shot": "16 channels (Sec. 4.2); NAS-Bench-201: 16, 5 cells a stage",
    }

    def __init__(self, problem: Problem, **said: Any) -> None:
        super().__init__(problem, **said)
        self.check_number("hot", "cold", above=True)

    def learn(self, number: int) -> Mapping[str, float]:
        """The weights, then the logits, each with a draw of its own."""
        temperature = straight(self.hot, self.cold, number // self.length / max(1, self.epochs - 1))
        path = {name: vector.detach() for name, vector in self.drawn("weights", temperature, number).items()}
        found = self.descend(self.loss(self.training(number), path))
        there = self.loss(self.validation(number), self.drawn("logits", temperature, number), gradient="chosen")
        self.settle(self.by_logits(there))
        return {"loss": found, "validation": float(there.detach()), "temperature": temperature}

    def drawn(self, use: str, temperature: float, number: int) -> dict[str, Tensor]:
        """The hard draw of batch `number` for one use."""
        return self.network.draw(self.logits, temperature=temperature, generator=self.numbers(use, number))

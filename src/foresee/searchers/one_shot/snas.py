"""SNAS: weights and architecture from one loss, through draws that are relaxed less and less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from foresee.searchers.base import searchers
from foresee.searchers.one_shot.relaxed import Relaxed
from foresee.searchers.problem import Problem
from foresee.training.schedules import straight


@searchers.register("snas")
class SNAS(Relaxed):
    """Stochastic search by the concrete distribution (Xie et al. 2019), without their penalty on resources.

    For each batch of the training half the choices are drawn: Z = softmax((alpha + Gumbel noise) / lambda), all options
    computed with these weights. One backward run of the one loss moves weights and logits alike; the validation half is not
    looked at. The temperature lambda falls in a straight line over the epochs, so that draws come near to architectures.

    Args:
        hot: lambda in the first epoch.
        cold: lambda in the last one.
    """

    name = "snas"
    summary = "SNAS: one loss for weights and logits, through relaxed draws whose temperature falls"
    source = "Xie et al. 2019 (SNAS), Sec. 2.2 to 2.4"
    cost = "an epoch: all options forward and backward on the training half; no scores"
    settings = ("hot", "cold")
    epochs = 150
    lr_min = 0.0
    hot: float = 1.0
    cold: float = 0.03
    published: ClassVar[Mapping[str, str]] = {
        "epochs": "150 (App. F)",
        "batch": "64 (App. F)",
        "lr": "0.025 (App. F)",
        "lr_min": "0 (App. F)",
        "momentum": "0.9 (App. F)",
        "weight_decay": "3e-4 (App. F)",
        "clip": "not said",
        "crop": "4 (as DARTS)",
        "flip": "true (as DARTS)",
        "arch_lr": "3e-4 (App. F)",
        "arch_decay": "1e-3 (App. F)",
        "hot": "not printed",
        "cold": "towards 0 (Sec. 2.3), not printed",
        "one_shot": "16 channels, 8 cells (App. F)",
    }

    def __init__(self, problem: Problem, **said: Any) -> None:
        super().__init__(problem, **said)
        self.check_number("hot", "cold", above=True)

    def learn(self, number: int) -> Mapping[str, float]:
        """Both from one backward run."""
        temperature = straight(self.hot, self.cold, number // self.length / max(1, self.epochs - 1))
        loss = self.loss(self.training(number), self.drawn(temperature, number))
        self.architect.zero_grad()
        found = self.descend(loss, *self.logits.values())
        self.architect.step()
        return {"loss": found, "temperature": temperature}

    def drawn(self, temperature: float, number: int) -> dict[str, Tensor]:
        """The relaxed draw of batch `number`."""
        noisy = self.perturbed(self.logits, self.numbers("draw", number))
        return {name: torch.softmax(vector / temperature, -1) for name, vector in noisy.items()}

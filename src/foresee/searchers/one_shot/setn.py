"""SETN: a template network trained uniformly, and an evaluator that learns which of its paths are worth judging."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch

from foresee.searchers.base import searchers
from foresee.searchers.one_shot.drawn import Drawn
from foresee.searchers.one_shot.relaxed import Relaxed
from foresee.spaces.one_shot import gumbel


@searchers.register("setn")
class SETN(Drawn, Relaxed):
    """Self-evaluated template network (Dong & Yang 2019).

    The template's weights are trained without favour: each batch of the training half trains the path of one uniformly drawn
    architecture. The evaluator is a distribution over the choices, the softmax of logits: each batch of the validation half
    moves it along the gradient of the loss of the template under its mixture, as the authors' code for NAS-Bench-201 has it.
    In the end architectures are drawn from the evaluator and judged by the template's weights; the best is the answer.
    """

    name = "setn"
    summary = "SETN: a uniformly trained template, and an evaluator that learns which paths to judge"
    source = "Dong & Yang 2019 (SETN), Sec. 3; NAS-Bench-201, its baseline"
    cost = "an epoch: one drawn network on the training half, all options on the validation half; no scores"
    epochs = 250
    published: ClassVar[Mapping[str, str]] = {
        "epochs": "250 in NAS-Bench-201's baseline",
        "batch": "64",
        "lr": "0.025",
        "lr_min": "0.001",
        "momentum": "0.9",
        "weight_decay": "3e-4",
        "clip": "5",
        "crop": "4",
        "flip": "true",
        "arch_lr": "3e-4",
        "arch_decay": "1e-3",
        "draws": "100 in NAS-Bench-201's baseline",
        "looks": "1 in NAS-Bench-201's baseline",
        "one_shot": "NAS-Bench-201: 16 channels, 5 cells a stage",
    }

    def learn(self, number: int) -> Mapping[str, float]:
        """The template by a uniform path, the evaluator by its mixture."""
        even = {name: torch.zeros_like(vector) for name, vector in self.logits.items()}
        path = self.network.path(self.network.derive(self.perturbed(even, self.numbers("path", number))))
        found = self.descend(self.loss(self.training(number), path))
        there = self.loss(self.validation(number), self.mixture())
        self.settle(self.by_logits(there))
        return {"loss": found, "validation": float(there.detach())}

    def draw(self, numbers: torch.Generator) -> Any:
        """By the evaluator."""
        with torch.no_grad():
            return self.network.derive({name: one + gumbel(one, numbers) for name, one in self.logits.items()})

"""Searchers whose choices are logits that a gradient reaches: what DARTS began."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from foresee.searchers.one_shot.base import OneShotSearcher
from foresee.searchers.one_shot.kept import named, optimiser_of, part_of, restore
from foresee.searchers.preferred import by_preference
from foresee.searchers.problem import Problem
from foresee.seeds import generator
from foresee.spaces.one_shot import gumbel


class Relaxed(OneShotSearcher):
    """Base of searchers with a logit for each option of each choice, all zero at first, that Adam moves.

    The answer is the architecture that the logits prefer, by the space's own rule; then the next likely ones.

    Args:
        arch_lr: rate of Adam for the logits; its betas are 0.5 and 0.999.
        arch_decay: weight decay of the logits.
    """

    settings: ClassVar[tuple[str, ...]] = ("arch_lr", "arch_decay")
    arch_lr: float = 3e-4
    arch_decay: float = 1e-3

    def __init__(self, problem: Problem, **said: Any) -> None:
        super().__init__(problem, **said)
        self.check_number("arch_decay")
        self.check_number("arch_lr", above=True)
        self.logits = self.network.logits()
        self.architect = torch.optim.Adam(
            list(self.logits.values()), self.arch_lr, betas=(0.5, 0.999), weight_decay=self.arch_decay
        )

    # -- weights of the choices -----------------------------------------------------------------------------------------
    def mixture(self) -> dict[str, Tensor]:
        """Softmax of the logits."""
        return {name: torch.softmax(vector, -1) for name, vector in self.logits.items()}

    def fixed(self) -> dict[str, Tensor]:
        """The mixture, for a step of the weights alone."""
        return {name: vector.detach() for name, vector in self.mixture().items()}

    def numbers(self, use: str, number: int) -> torch.Generator:
        """Random numbers for one use of batch `number`."""
        return generator(self.problem.seed, self.name, use, number)

    def perturbed(self, logits: Mapping[str, Tensor], numbers: torch.Generator) -> dict[str, Tensor]:
        """The logits with Gumbel noise: the largest of them are a draw by their softmax."""
        return {name: vector + gumbel(vector, numbers) for name, vector in logits.items()}

    def by_logits(self, loss: Tensor) -> list[Tensor]:
        """The gradient of a loss by the logits."""
        found = torch.autograd.grad(loss, list(self.logits.values()), allow_unused=True, materialize_grads=True)
        return list(found)

    def settle(self, gradients: Sequence[Tensor]) -> None:
        """One step of the logits."""
        for vector, gradient in zip(self.logits.values(), gradients, strict=True):
            vector.grad = gradient
        self.architect.step()

    # -- what comes of it -----------------------------------------------------------------------------------------------
    def outcome(self, number: int) -> Mapping[str, Any]:
        """The logits, and the architecture they prefer."""
        return {
            "logits": {name: vector.tolist() for name, vector in self.logits.items()},
            "architecture": str(self.network.derive(self.fixed())),
        }

    def answers(self) -> Iterator[Any]:
        """In the order of what the logits prefer."""
        return map(self.network.derive, by_preference(self._outcomes[self.epochs - 1]["logits"]))

    def tensors(self) -> dict[str, Tensor]:
        """With the logits."""
        return super().tensors() | named("logits", self.logits) | optimiser_of("architect", self.architect)

    def restore(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """With the logits."""
        super().restore(tensors, facts)
        with torch.no_grad():
            for name, vector in part_of("logits", tensors).items():
                self.logits[name].copy_(vector)
        restore("architect", self.architect, tensors)

r"""DARTS: weights and architecture in turn, each by the gradient of its own half's loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.searchers.base import searchers
from foresee.searchers.one_shot.relaxed import Relaxed

#: by what the length of the gradient is divided to the step of the difference in Eq. 8
EPSILON = 0.01


@searchers.register("darts_1st")
class DARTSFirst(Relaxed):
    r"""DARTS, first order (Liu et al. 2019, Algorithm 1 with xi = 0).

    All options are computed, weighed by the softmax of the logits alpha. For each pair of batches: a step of alpha along
    the gradient of the validation loss at the present weights, then a step of the weights w along that of the training loss.
    """

    name = "darts_1st"
    summary = "DARTS, first order: logits by the validation loss, weights by the training loss, in turn"
    source = "Liu et al. 2019 (DARTS), Algorithm 1"
    cost = "an epoch: all options forward and backward on both halves; no scores"
    published: ClassVar[Mapping[str, str]] = {
        "epochs": "50 (App. A.1.1)",
        "batch": "64 (App. A.1.1)",
        "lr": "0.025 (App. A.1.1)",
        "lr_min": "0 in App. A.1.1, 0.001 in the released code",
        "momentum": "0.9 (App. A.1.1)",
        "weight_decay": "3e-4 (App. A.1.1)",
        "clip": "5 in the released code",
        "crop": "4 (App. A.1.1)",
        "flip": "true (App. A.1.1)",
        "arch_lr": "3e-4 (App. A.1.1)",
        "arch_decay": "1e-3 (App. A.1.1)",
        "one_shot": "16 channels, 8 cells (App. A.1.1)",
    }

    def learn(self, number: int) -> Mapping[str, float]:
        """Algorithm 1: the logits, then the weights."""
        training, validation = self.training(number), self.validation(number)
        there, gradients = self.architecture_gradient(training, validation)
        self.settle(gradients)
        return {"loss": self.descend(self.loss(training, self.fixed())), "validation": there}

    def architecture_gradient(self, training: Batch, validation: Batch) -> tuple[float, Sequence[Tensor]]:
        """The validation loss, and its gradient by the logits at the present weights."""
        loss = self.loss(validation, self.mixture())
        return float(loss.detach()), self.by_logits(loss)


@searchers.register("darts_2nd")
class DARTSSecond(DARTSFirst):
    r"""DARTS, second order (Liu et al. 2019, Eq. 6 to 8): the logits look one step of the weights ahead.

    $$
    \nabla_\alpha L_{val}(w', \alpha)
    - \xi \frac{\nabla_\alpha L_{train}(w^+, \alpha) - \nabla_\alpha L_{train}(w^-, \alpha)}{2 \epsilon},
    \quad w' = w - \xi \nabla_w L_{train}(w, \alpha),
    \quad w^\pm = w \pm \epsilon \nabla_{w'} L_{val}(w', \alpha)
    $$

    with epsilon = 0.01 / |gradient by w'| and xi the present rate of the weights. The step ahead is a plain one, without
    momentum and decay, as in the paper. Otherwise as `darts_1st`.
    """

    name = "darts_2nd"
    summary = "DARTS, second order: the logits look one step of the weights ahead, by a finite difference"
    source = "Liu et al. 2019 (DARTS), Eq. 6 to 8"
    cost = "an epoch: about twice that of darts_1st; no scores"

    def architecture_gradient(self, training: Batch, validation: Batch) -> tuple[float, Sequence[Tensor]]:
        """Eq. 7, with the product of Eq. 8."""
        weights = list(self.network.parameters())
        xi = self.optimiser.param_groups[0]["lr"]
        ahead = _gradient(self.loss(training, self.fixed()), weights)
        _move(weights, ahead, -xi)
        loss = self.loss(validation, self.mixture())
        both = torch.autograd.grad(loss, [*self.logits.values(), *weights], allow_unused=True, materialize_grads=True)
        direct, there = both[: len(self.logits)], both[len(self.logits) :]
        _move(weights, ahead, xi)
        return float(loss.detach()), self._corrected(direct, there, training, weights, xi)

    def _corrected(
        self, direct: Sequence[Tensor], there: Sequence[Tensor], training: Batch, weights: Sequence[Tensor], xi: float
    ) -> list[Tensor]:
        length = float(torch.stack([one.double().square().sum() for one in there]).sum().sqrt())
        if not length:  # nothing of the weights matters there, and so nothing of the step ahead
            return list(direct)
        epsilon, sides = EPSILON / length, []
        for sign in (1.0, -1.0):
            _move(weights, there, sign * epsilon)
            sides.append(self.by_logits(self.loss(training, self.mixture())))
            _move(weights, there, -sign * epsilon)
        return [one - xi * (up - down) / (2 * epsilon) for one, up, down in zip(direct, *sides, strict=True)]


def _gradient(loss: Tensor, weights: Sequence[Tensor]) -> Sequence[Tensor]:
    return torch.autograd.grad(loss, weights, allow_unused=True, materialize_grads=True)


@torch.no_grad()
def _move(weights: Sequence[Tensor], directions: Sequence[Tensor], length: float) -> None:
    for weight, direction in zip(weights, directions, strict=True):
        weight.add_(direction, alpha=length)

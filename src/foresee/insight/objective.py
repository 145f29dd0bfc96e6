"""The loss of a network on some samples as a function of its weights: its value, its gradients and its curvature anywhere.

The network itself is not touched: a copy is looked at, in evaluation mode, so that batch normalisation uses what it has
measured and a sample's loss does not depend on its company.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from foresee.batch import Batch
from foresee.checks import whole
from foresee.errors import DataError, InputError
from foresee.probes.outputs import logits_of
from foresee.training import losses

#: parameters by name
Weights: TypeAlias = Mapping[str, Tensor]
#: samples that are looked at at once, where much is held for each of them
TOGETHER = 32


class Objective:
    """The mean loss over all samples of some batches.

    Args:
        network: any module, on any device.
        batches: with labels.
        double: look at a copy in float64, for what is fragile.

    >>> network = nn.Linear(2, 2)
    >>> batch = Batch(torch.eye(2), torch.tensor([0, 1]))
    >>> objective = Objective(network, [batch])
    >>> far = {name: 100 * one for name, one in objective.weights.items()}
    >>> objective.loss() < objective.loss(far) or objective.loss(far) < objective.loss(), objective.samples
    (True, 2)
    """

    def __init__(self, network: nn.Module, batches: Iterable[Batch], *, double: bool = False) -> None:
        self.network = copy.deepcopy(network).eval()
        if double:
            self.network.double()
        place = next(self.network.parameters(), None)
        if place is None or not any(one.requires_grad for one in self.network.parameters()):
            raise InputError("the network has no weights that could be moved")
        self.batches = [one.to(place.device, torch.float64 if double else None) for one in batches]
        if not self.batches or any(one.labels is None for one in self.batches):
            raise DataError("the loss of a network needs at least one batch, with labels")
        self.weights: dict[str, Tensor] = {
            name: one.detach() for name, one in self.network.named_parameters() if one.requires_grad
        }
        self.samples = sum(map(len, self.batches))
        first = self.batches[0]
        with torch.no_grad():
            outputs = logits_of(first.call(self.network))
        assert first.labels is not None
        self._kind = losses.kind_of([first.labels], outputs.shape[1] if outputs.ndim > 1 else 1)

    @property
    def size(self) -> int:
        """How many numbers can be moved."""
        return sum(one.numel() for one in self.weights.values())

    def loss(self, weights: Weights | None = None) -> float:
        """The mean over all samples, with these weights instead of the network's own."""
        with torch.no_grad():
            total = sum(float(self._of(batch, weights or self.weights)) * len(batch) for batch in self.batches)
        return total / self.samples

    def gradient_variance(self, weights: Weights | None = None, *, together: int = TOGETHER) -> float:
        """`E ||g_i - E g||²`, g_i the gradient of the loss of one sample: how noisy gradients are (thesis, 4.3.2.2).

        `together` samples are looked at at once.
        """
        at = dict(weights or self.weights)
        squares, mean = 0.0, {name: torch.zeros_like(one, dtype=torch.float64) for name, one in at.items()}
        look = vmap(grad(self._single), in_dims=(None, 0, 0), randomness="same")
        for batch in self.batches:
            if len(batch.parts) != 1 or batch.labels is None:
                raise InputError("gradients of single samples are known here of networks with one input alone")
            for start in range(0, len(batch), together):
                part = slice(start, start + together)
                for name, one in look(at, batch.parts[0][part], batch.labels[part]).items():
                    single = one.detach().flatten(1).double()
                    squares += float(single.square().sum())
                    mean[name] += single.sum(0).reshape(mean[name].shape)
        middle = sum(float((one / self.samples).square().sum()) for one in mean.values())
        return max(0.0, squares / self.samples - middle)

    def hessian_product(self, vector: Tensor) -> Tensor:
        """The Hessian times a vector (size,): by a backward run through a backward run."""
        return self.hessian_at()(vector)

    def hessian_at(self, weights: Weights | None = None, *, together: int = TOGETHER) -> Callable[[Tensor], Tensor]:
        """Products with the Hessian at these weights, `together` samples at a time.

        A backward run through a backward run holds several times what a forward run does: so memory is bounded by `together`,
        however large the batches are. The sum over all samples is the same.
        """
        at = weights or self.weights
        whole("together", together)
        pieces = [
            batch.placed(lambda one, start=start: one[start : start + together])  # type: ignore[misc]
            for batch in self.batches
            for start in range(0, len(batch), together)
        ]

        def product(vector: Tensor) -> Tensor:
            found = torch.zeros_like(vector)
            for batch in pieces:
                moved = {name: one.clone().requires_grad_(True) for name, one in at.items()}
                parts = list(moved.values())
                first = torch.autograd.grad(
                    self._of(batch, moved), parts, create_graph=True, allow_unused=True, materialize_grads=True
                )
                slope = sum((one * two).sum() for one, two in zip(first, self.unflat(vector).values(), strict=True))
                assert isinstance(slope, Tensor)
                second = torch.autograd.grad(slope, parts, allow_unused=True, materialize_grads=True)
                found += flat(second) * (len(batch) / self.samples)
            return found

        return product

    def unflat(self, vector: Tensor) -> dict[str, Tensor]:
        """A vector (size,) as tensors of the weights' shapes, by name."""
        found, start = {}, 0
        for name, one in self.weights.items():
            found[name] = vector[start : start + one.numel()].reshape(one.shape)
            start += one.numel()
        return found

    def _of(self, batch: Batch, weights: Weights) -> Tensor:
        outputs = batch.call(lambda *args, **named: functional_call(self.network, dict(weights), args, named))
        assert batch.labels is not None
        return losses.loss(logits_of(outputs), batch.labels, self._kind)

    def _single(self, weights: dict[str, Tensor], inputs: Tensor, label: Tensor) -> Tensor:
        outputs = logits_of(functional_call(self.network, weights, (inputs[None],)))
        return losses.loss(outputs, label[None], self._kind)


def flat(parts: Iterable[Tensor]) -> Tensor:
    """Tensors one after the other, (size,)."""
    return torch.cat([one.detach().reshape(-1) for one in parts])


def moved(weights: Weights, *steps: tuple[float, Mapping[str, Any]]) -> dict[str, Tensor]:
    """Weights with some multiples of directions added."""
    made = dict(weights)
    for amount, direction in steps:
        made = {name: one + amount * direction[name] for name, one in made.items()}
    return made

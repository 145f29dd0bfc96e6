"""Losses of all architectures of a stack on one batch, and their gradients by all parameters."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from foresee.probes.losses import Loss
from foresee.scoring.stacked.network import Watch
from foresee.scoring.stacked.wiring import Layer


class StackedGradients(Watch):
    """Of a stack of `count` architectures; `weights` are the names of the weights of convolutions and of the classifier."""

    differentiates = every_parameter = True

    def __init__(self, count: int) -> None:
        self._count = count
        self._leaves: list[tuple[str, Tensor | None, Tensor]] = []
        self.weights: set[str] = set()

    def layer(self, layer: Layer, inputs: Tensor, weights: Tensor, outputs: Tensor) -> None:
        """Its weights."""
        name = f"{layer.name}.weight"
        self.weights.add(name)
        self._leaves.append((name, layer.owners, weights))

    def parameter(self, name: str, owners: Tensor | None, values: Tensor) -> None:
        """Any other."""
        self._leaves.append((name, owners, values))

    def finish(self, outputs: Tensor, labels: Tensor, loss: Loss) -> None:
        """The way back from the loss of each architecture's outputs, (architectures, samples, outputs)."""
        losses = torch.stack([loss(own, labels) for own in outputs])
        leaves = [values for _, _, values in self._leaves]
        gradients = torch.autograd.grad(losses.sum(), leaves, allow_unused=True)
        self._losses = losses.detach()
        self._by_place: list[list[tuple[str, Tensor, Tensor | None]]] = [[] for _ in range(self._count)]
        for (name, owners, values), gradient in zip(self._leaves, gradients, strict=True):
            numbers = values.detach().unbind()
            slopes = [None] * len(numbers) if gradient is None else gradient.unbind()
            places = range(self._count) if owners is None else owners.tolist()
            for place, own, slope in zip(places, numbers, slopes, strict=True):
                self._by_place[place].append((name, own, slope))
        self._leaves.clear()

    def loss(self, place: int) -> Tensor:
        """The loss of one architecture."""
        return self._losses[place]

    def parameters(self, place: int) -> Iterator[tuple[str, Tensor]]:
        """Its parameters."""
        return ((name, own) for name, own, _ in self._by_place[place])

    def gradients(self, place: int) -> dict[str, Tensor]:
        """Its gradients, by the parameters that have an influence in some architecture of the stack."""
        return {name: slope for name, _, slope in self._by_place[place] if slope is not None}

"""Losses of all architectures of a stack on one batch, and their gradients by all parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from foresee.probes.across import Among, Formula, Many
from foresee.probes.losses import Loss
from foresee.scoring.stacked.network import Watch
from foresee.scoring.stacked.wiring import Layer

#: numbers that go through a formula together, each of which becomes one of float64, several times over
_ON_CPU, _ON_ACCELERATOR = 2**18, 2**26


class StackedGradients(Watch, Many):
    """Of a stack of `count` architectures; `weights` are the names of the weights of convolutions and of the classifier."""

    differentiates = every_parameter = True

    def __init__(self, count: int) -> None:
        self._count = count
        self._leaves: list[tuple[str, Tensor | None, Tensor]] = []
        self._found: list[_Leaf] = []
        self._across: dict[tuple[Formula, bool, int], list[dict[str, Tensor]]] = {}
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
        self._losses = losses.detach().cpu()
        self._by_place: list[list[tuple[str, Tensor, Tensor | None]]] = [[] for _ in range(self._count)]
        for (name, owners, values), gradient in zip(self._leaves, gradients, strict=True):
            numbers = values.detach().unbind()
            slopes = [None] * len(numbers) if gradient is None else gradient.unbind()
            places = list(range(self._count)) if owners is None else owners.tolist()
            for place, own, slope in zip(places, numbers, slopes, strict=True):
                self._by_place[place].append((name, own, slope))
            self._found.append(_Leaf(name, places, values.detach(), gradient))
        self._leaves.clear()

    def across(self, batches: Sequence[Many], formula: Formula, parameters: bool) -> Sequence[Mapping[str, Tensor]]:
        """What a formula gives by place and parameter: it is asked once for all that have a parameter, small on the CPU."""
        key = formula, parameters, len(batches)
        if key not in self._across:
            self._across[key] = self._over(batches, formula, parameters)
        return self._across[key]

    def _over(self, batches: Sequence[Many], formula: Formula, parameters: bool) -> list[dict[str, Tensor]]:
        by_leaf = zip(*(one._found for one in batches if isinstance(one, StackedGradients)), strict=True)
        found: list[dict[str, Tensor]] = [{} for _ in range(self._count)]
        asked, made = [], []
        for leaves in by_leaf:
            gradients = [leaf.gradient.flatten(1) for leaf in leaves if leaf.gradient is not None]
            if len(gradients) == len(leaves):
                asked.append(leaves[0])
                made.append(_asked(formula, leaves[0].values.flatten(1) if parameters else None, gradients))
        if made:
            numbers = torch.split(torch.cat(made).cpu(), [len(one) for one in made])  # one wait for the device
            for leaf, own in zip(asked, numbers, strict=True):
                for place, number in zip(leaf.places, own.unbind(), strict=True):
                    found[place][leaf.name] = number
        return found

    def loss(self, place: int) -> Tensor:
        """The loss of one architecture."""
        return self._losses[place]

    def parameters(self, place: int) -> Iterator[tuple[str, Tensor]]:
        """Its parameters."""
        return ((name, own) for name, own, _ in self._by_place[place])

    def gradients(self, place: int, wanted: Callable[[str], bool] = bool) -> Among:
        """Its gradients, by the parameters that have an influence in some architecture of the stack."""
        own = self._by_place[place]
        return Among({name: slope for name, _, slope in own if slope is not None and wanted(name)}, self, place)


class _Leaf(NamedTuple):
    """A parameter of the architectures at these places."""

    name: str
    places: list[int]
    values: Tensor
    gradient: Tensor | None


def _asked(formula: Formula, parameters: Tensor | None, gradients: Sequence[Tensor]) -> Tensor:
    """What a formula gives for gradients of each batch, (n, numbers), some networks at a time."""
    given = gradients if parameters is None else (parameters, *gradients)
    most = max(1, (_ON_CPU if given[0].is_cpu else _ON_ACCELERATOR) // (len(gradients) * given[0].shape[1]))
    found = []
    for parts in zip(*(torch.split(one, most) for one in given), strict=True):
        rows = torch.stack(parts[-len(gradients) :], 1)
        found.append(formula(rows) if parameters is None else formula(parts[0][:, None], rows))
    return torch.cat(found)

"""What the layers of all architectures of a stack read and are told: the numbers that the default score is made from.

How independent channels are is measured by the look itself (`foresee.probes.exchanges`), mapped over the architectures.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from foresee.probes.exchanges import Exchange, Exchanges
from foresee.scoring.stacked.network import Watch
from foresee.scoring.stacked.wiring import Layer

#: numbers of maps that are looked at together, each of which becomes one of float64, several times over
_ON_CPU, _ON_ACCELERATOR = 2**22, 2**28


class StackedExchanges(Watch):
    """The look `look` at a stack of `count` architectures."""

    differentiates = True

    def __init__(self, look: Exchanges, count: int) -> None:
        self._look, self._count = look, count
        self._layers: list[Layer] = []
        self._positions: list[int] = []
        self._weights: list[Tensor] = []
        self._reads: list[Tensor] = []
        self._told: list[Tensor] = []

    def layer(self, layer: Layer, inputs: Tensor, weights: Tensor, outputs: Tensor) -> None:
        """What it reads, and a word to the gradient that will come back."""
        reads = self._seen(inputs).expand(len(weights))
        number = len(self._layers)
        self._layers.append(layer)
        self._positions.append(outputs.shape[3] * outputs.shape[4])
        self._weights.append(weights)
        self._reads.append(reads)
        self._told.append(torch.zeros_like(reads))

        def hook(gradient: Tensor) -> None:
            self._told[number] = self._seen(gradient)

        outputs.register_hook(hook)  # type: ignore[no-untyped-call]

    def _seen(self, maps: Tensor) -> Tensor:
        """The look's own number for each architecture: (n, channels, samples, H, W) to (n,)."""
        by_samples = maps.detach().transpose(1, 2).flatten(3)
        most = max(1, (_ON_CPU if maps.is_cpu else _ON_ACCELERATOR) // by_samples[0].numel())
        measure: Any = torch.vmap(self._look.roundness)
        return torch.cat([measure(part) for part in torch.split(by_samples, most)])

    def finish(self, outputs: Tensor, along: Tensor) -> None:
        """The way back from outputs (architectures, samples, outputs) along a projection of them, the same for all."""
        gradients = torch.autograd.grad(outputs, self._weights, along.expand_as(outputs), allow_unused=True)
        finite = torch.where(outputs.detach().isfinite().all(-1).all(-1), 1.0, torch.nan)
        scale = finite.double() / outputs[0].numel() ** 0.5
        everyone = torch.arange(self._count, device=outputs.device)
        owners = [everyone if layer.owners is None else layer.owners for layer in self._layers]
        changes = [
            torch.zeros_like(own) * scale[own]
            if gradient is None
            else torch.linalg.vector_norm(weights.detach() * gradient, dim=(1, 2), dtype=torch.float64) * scale[own]
            for own, weights, gradient in zip(owners, self._weights, gradients, strict=True)
        ]
        self._weights.clear()
        columns = [torch.cat(one) for one in (self._reads, self._told, changes)]
        of_layers = [
            [one.outputs * one.fan, one.inputs * one.kernel, made]
            for one, made in zip(self._layers, self._positions, strict=True)
        ]
        lengths = torch.tensor([len(own) for own in owners])
        sizes = torch.tensor(of_layers, dtype=torch.float64).repeat_interleave(lengths, 0)
        # By architecture, each one's layers in order: a sort that keeps the order of equals.
        joined = torch.cat(owners).cpu()
        order = joined.argsort(stable=True)
        counts = joined.bincount(minlength=self._count).tolist()
        numbers = torch.cat([sizes, torch.stack(columns, 1).cpu()], 1)[order]
        self._numbers = [one.unbind(1) for one in torch.split(numbers, counts)]

    def of(self, place: int) -> Exchange:
        """What was seen of one architecture; layers are not called by name."""
        weights, directions, positions, reads, told, changes = self._numbers[place]
        names = ("",) * len(weights)
        later = torch.arange(len(weights), dtype=torch.float64).flip(0)  # layers are in the order of their calls
        return Exchange(names, weights, directions, positions, reads, told, changes, changes.norm(), later)

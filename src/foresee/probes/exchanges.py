"""A look at what layers read and what they are told: how round both are, and how far the outputs move with the weights.

What a layer reads is its input; what it is told is the gradient by its output of a random projection of the network's
outputs. Each is looked at while it passes by, and numbers are kept, no tensors: beside the graph of its pass the look holds
nothing that grows with the batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from foresee.errors import UnsupportedError
from foresee.probes.looks import Call, Forward, Watcher
from foresee.probes.sphericity import sphericity

#: layers whose weights mix channels
LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)


@dataclass(frozen=True, eq=False)
class Exchange:
    """What all calls of layers exchanged, in call order; every tensor in float64 on the CPU.

    `directions` is how many directions the filters of a layer read, `reads` and `told` the sphericity of what goes in and of
    what comes back, (calls,) each; `change` is how far an output moves when every weight is off by chance, relatively.
    """

    directions: Tensor
    reads: Tensor
    told: Tensor
    change: Tensor


class Exchanges(Watcher[Exchange]):
    """Sphericity of what convolutions and linear layers read and are told, and the change of the outputs with their weights.

    Settings: `channels` is the most channels of a layer that are compared, `columns` how many positions per channel make a
    group of samples: see `grouped`. Frozen weights count too: how steady a network is does not depend on who trains it.
    """

    name = "exchanges"
    root = "projection"

    def __init__(self, channels: int = 256, columns: int = 8) -> None:
        super().__init__(channels=channels, columns=columns)
        self._channels, self._columns = channels, columns
        self._calls: list[_Call] = []
        self._waiting: list[Tensor] = []

    def wakes(self, network: nn.Module) -> Sequence[Tensor]:
        """Weights of the layers, a shared one once."""
        layers = [module for module in network.modules() if isinstance(module, LAYERS)]
        return list({id(p): p for layer in layers for p in layer.parameters() if p.ndim > 1}.values())

    def selects(self, call: Call) -> bool:
        """Convolutions and linear layers."""
        return isinstance(call.module, LAYERS)

    def before(self, call: Call, inputs: Tensor) -> None:
        """What the layer reads."""
        self._waiting.append(self._look(call.module, inputs))

    def after(self, call: Call, output: Tensor) -> None:
        """A word to the gradient that will come back, before anything is written into the output."""
        reads = self._waiting.pop()
        seen = _Call(directions(call.module), reads, torch.zeros_like(reads))
        self._calls.append(seen)

        def hook(gradient: Tensor) -> None:
            if self.listening:
                seen.told = self._look(call.module, gradient)

        if output.requires_grad:
            output.register_hook(hook)  # type: ignore[no-untyped-call]

    def targets(self, forward: Forward) -> Sequence[Tensor]:
        """The weights of the layers; on the way to them the gradient passes every layer."""
        if not self._calls:
            raise UnsupportedError("no convolution or linear layer was called: the default score looks at nothing else")
        return self.wakes(forward.network)

    def result(self, forward: Forward, gradients: Sequence[Tensor | None]) -> Exchange:
        """Numbers of all calls."""
        found = [(w, g) for w, g in zip(self.wakes(forward.network), gradients, strict=True) if g is not None]
        if not found:
            raise UnsupportedError("the outputs do not depend on the weights in a differentiable way")
        changes = [torch.linalg.vector_norm(w.detach() * g, dtype=torch.float64) for w, g in found]
        change = torch.stack(changes).norm()
        if not forward.outputs.isfinite().all():  # layers see correlations, and might not notice
            change = change * torch.nan
        return Exchange(
            torch.tensor([seen.directions for seen in self._calls], dtype=torch.float64),
            torch.stack([seen.reads for seen in self._calls]).cpu(),
            torch.stack([seen.told for seen in self._calls]).cpu(),
            (change / math.sqrt(forward.outputs.numel())).cpu(),
        )

    def _look(self, layer: nn.Module, tensor: Tensor) -> Tensor:
        return sphericity(grouped(as_maps(self.kept(tensor), layer), self._channels, self._columns)).mean()


@dataclass(eq=False)
class _Call:
    """One call of a layer."""

    directions: float
    reads: Tensor
    told: Tensor


def directions(layer: Any) -> float:
    """Channels that one filter reads, times the square root of the positions of its kernel.

    >>> directions(nn.Conv2d(8, 4, 3, groups=2))
    12.0
    """
    if isinstance(layer, nn.Linear):
        return float(layer.in_features)
    return float(layer.in_channels / layer.groups * math.sqrt(math.prod(layer.kernel_size)))


def as_maps(tensor: Tensor, layer: nn.Module) -> Tensor:
    """(samples, channels, positions): the channels of a linear layer are the last axis, those of a convolution the second."""
    if isinstance(layer, nn.Linear):
        return tensor.reshape(len(tensor), -1, tensor.shape[-1]).mT if tensor.ndim > 1 else tensor[None, :, None]
    dimensions = len(layer.kernel_size)  # type: ignore[arg-type]
    batched = tensor if tensor.ndim == dimensions + 2 else tensor[None]
    return batched.flatten(2)


def grouped(maps: Tensor, channels: int, columns: int) -> Tensor:
    """(samples, channels, positions) to (groups, at most `channels`, positions of all samples of a group).

    Groups are as small as gives `columns` positions per channel; where all samples together do not, they are one group.
    """
    samples, rows, positions = maps.shape
    if rows > channels:
        maps = maps[:, torch.arange(channels, device=maps.device) * rows // channels]
    wanted = min(samples, -(-columns * maps.shape[1] // positions))
    groups = samples // wanted
    size = samples // groups  # samples left over join the groups as far as they go round
    return maps[: groups * size].reshape(groups, size, -1, positions).transpose(1, 2).flatten(2)

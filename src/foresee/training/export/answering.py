"""The network as a program to be written down: from tensors to the outputs that count, with or without normalising."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from foresee.data.normalising import Statistics
from foresee.probes.outputs import logits_of


class Answering(nn.Module):
    """Inputs to logits; the first input is normalised on the way where `statistics` are given.

    With `names`, inputs by position are handed to the network by these names, as tracers want it.

    >>> network = Answering(nn.Flatten(), Statistics((0.5,), (0.25,)))
    >>> network(torch.ones(1, 1, 1, 2))
    tensor([[2., 2.]])
    """

    mean: Tensor
    std: Tensor

    def __init__(
        self, network: nn.Module, statistics: Statistics | None = None, names: tuple[str, ...] | None = None
    ) -> None:
        super().__init__()
        self.network, self.names = network, names
        self.normalises = statistics is not None
        if statistics is not None:
            self.register_buffer("mean", torch.tensor(statistics.mean, dtype=torch.float32), persistent=False)
            self.register_buffer("std", torch.tensor(statistics.std, dtype=torch.float32), persistent=False)

    def forward(self, *inputs: Tensor) -> Tensor:
        """Logits of shape (N, outputs)."""
        if self.normalises:
            first, *others = inputs
            axes = (1, -1) + (1,) * (first.ndim - 2)
            inputs = ((first - self.mean.view(axes)) / self.std.view(axes), *others)
        if self.names is not None:
            said: Any = self.network(**dict(zip(self.names, inputs, strict=True)))
        else:
            said = self.network(*inputs)
        return logits_of(said)

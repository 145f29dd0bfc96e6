"""A network that is asked, not taught: no gradients by weights, batch norms see the batch, all as before afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from foresee.spaces.one_shot import OneShot


@contextmanager
def frozen(network: nn.Module) -> Iterator[None]:
    """In training mode, without gradients by parameters; modes, buffers and the mixture of a one-shot network come back.

    >>> layer = nn.BatchNorm1d(2).eval()
    >>> with frozen(layer):
    ...     _ = layer(torch.randn(8, 2))
    >>> layer.running_mean.tolist(), layer.training, layer.weight.requires_grad
    ([0.0, 0.0], False, True)
    """
    modes = [(module, module.training) for module in network.modules()]
    asked = [(one, one.requires_grad) for one in network.parameters()]
    buffers = [(one, one.detach().clone()) for one in network.buffers()]
    mixture = (network.weights, network.gradient) if isinstance(network, OneShot) else None
    network.train().requires_grad_(False)
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
        for parameter, wanted in asked:
            parameter.requires_grad_(wanted)
        with torch.no_grad():
            for buffer, value in buffers:
                buffer.copy_(value)
        if mixture is not None and isinstance(network, OneShot):
            network.mix(mixture[0], gradient=mixture[1])

"""MC DropPath: one network that goes on dropping paths when it evaluates, each time others (after Gal & Ghahramani, 2016).

Which paths a member drops is decided by its seed, anew from the start in every call: the same batch has the same answer.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from foresee.errors import InputError
from foresee.seeds import generator
from foresee.spaces.darts.network import DropPath


class Draws:
    """Numbers in the order in which they are asked for, since the last call of the network."""

    def __init__(self, seed: int) -> None:
        self.seed, self.count = seed, 0

    def __call__(self, network: nn.Module, inputs: Any) -> None:
        """Begin again: a hook before the network runs."""
        self.count = 0

    def next(self, many: int) -> Tensor:
        """Uniform numbers, (many,), equal on every device."""
        self.count += 1
        return torch.rand(many, generator=generator(self.seed, "droppath", self.count))


class AlwaysDropPath(DropPath):
    """Drops whole maps of single samples in training and in evaluation alike."""

    def __init__(self, probability: float, draws: Draws) -> None:
        super().__init__(probability)
        self.draws = draws

    @property
    def active(self) -> bool:
        """Always."""
        return self.probability > 0

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to the same shape."""
        kept = self.draws.next(len(x)).to(x.device) >= self.probability
        return x * kept.to(x.dtype)[:, None, None, None] / (1.0 - self.probability)


def drops(network: nn.Module) -> bool:
    """Whether a network has paths that can be dropped."""
    return any(isinstance(one, DropPath) for one in network.modules())


def dropping(network: nn.Module, probability: float, seed: int) -> nn.Module:
    """The network itself, its paths dropped from now on; names of its weights stay as they are.

    >>> cell = nn.Sequential(DropPath())
    >>> x = torch.ones(50, 1, 1, 1)
    >>> thinned = dropping(cell, 0.5, seed=0).eval()
    >>> torch.equal(thinned(x), thinned(x)), sorted(thinned(x).unique().tolist())
    (True, [0.0, 2.0])
    """
    if not drops(network):
        raise InputError("droppath: the network has no paths that can be dropped; those of DARTS cells have")
    draws = Draws(seed)
    for module in list(network.modules()):
        for name, child in module.named_children():
            if isinstance(child, DropPath):
                setattr(module, name, AlwaysDropPath(probability, draws))
    network.register_forward_pre_hook(draws)
    return network


def dropped(network: nn.Module) -> list[float | int] | None:
    """The probability and the seed by which a network drops paths; None where it does not."""
    found = next((one for one in network.modules() if isinstance(one, AlwaysDropPath)), None)
    return None if found is None else [found.probability, found.draws.seed]

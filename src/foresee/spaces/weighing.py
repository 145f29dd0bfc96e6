"""Weights of a choice's options, and what the host knows of them: which are zero, and so which options are computed.

On a GPU, asking a tensor for its value waits for all that was begun before. So the weights of a one-shot network are read
once, when they are set: one transfer to the host, one to the network's device where they are made elsewhere, none while it
runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from foresee.spaces.absent import absent

Weights = Mapping[str, Tensor]


@dataclass(frozen=True, eq=False)
class Weight:
    """The weight of an option that is computed.

    Args:
        value: a number, with its gradient if it has one; None is exactly 1, without a gradient.
        zero: whether it is zero, known without asking the device.
    """

    value: Tensor | None = None
    zero: bool = False

    def to(self, x: Tensor) -> Tensor:
        """The weight in the type and on the device of `x`."""
        return x.new_ones(()) if self.value is None else self.value.to(x)

    def times(self, option: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        """The weight times `option(x)`, by the cheap way where it is zero (see `absent`)."""
        there = self.to(x)
        return absent(there, option, x) if self.zero else there * option(x)


#: a weight for each option of a choice, None for those that are not computed
Live = Sequence[Weight | None]
ONE = Weight()


def live(weights: Tensor, gradient: str = "all", host: Tensor | None = None) -> Live:
    """A weight for each option, None for those that need not be computed: they weigh exactly zero, and no gradient is to go
    through their weight; `gradient` as in `OneShot.mix`.

    Args:
        weights: a vector.
        gradient: "all" or "chosen".
        host: the same numbers where they can be read without waiting; by default the vector is read.

    >>> [None if one is None else one.value for one in live(torch.tensor([0.0, 1.0]))]
    [None, tensor(1.)]
    """
    seen = weights.detach() if host is None else host
    through = gradient == "all" and weights.requires_grad and torch.is_grad_enabled()
    zeros = [number == 0.0 for number in seen.tolist()]
    return tuple(
        None if zero and not through else Weight(weight, zero)
        for zero, weight in zip(zeros, weights.unbind(), strict=True)
    )


class Present:
    """The weights that a one-shot network computes with, each on the network's device and on the host.

    A vector that is changed in place after it was handed over is read again: torch counts its changes.

    Args:
        given: by choice its weights.
        host: the same numbers on the host.
        device: where the network is; None where nobody knows yet.
    """

    def __init__(self, given: Weights, host: Weights, device: torch.device | None = None) -> None:
        self.given = dict(given)
        self._read(host)
        self.place(device)

    def _read(self, host: Weights) -> None:
        self._changes = {name: _changes(vector) for name, vector in self.given.items()}
        self._host = host

    def place(self, device: torch.device | None) -> None:
        """From now on the network is there."""
        self._device = device
        self._there = self.given if device is None else moved(self.given, device)

    def __getitem__(self, choice: str) -> Tensor:
        """The weights of a choice, where the network is."""
        self._fresh(choice)
        return self._there[choice]

    def host(self, choice: str) -> Tensor:
        """The weights of a choice on the host, without gradient."""
        self._fresh(choice)
        return self._host[choice]

    def _fresh(self, choice: str) -> None:
        if _changes(self.given[choice]) != self._changes[choice]:
            self._read(on_host(self.given))
            self.place(self._device)


def _changes(vector: Tensor) -> int:
    """How often a tensor was changed in place, as far as that is counted."""
    return 0 if vector.is_inference() else vector._version


def on_host(weights: Weights) -> dict[str, Tensor]:
    """The same numbers without gradients on the CPU, all of a device by one transfer."""
    return moved({name: vector.detach() for name, vector in weights.items()}, torch.device("cpu"))


def moved(weights: Weights, device: torch.device) -> dict[str, Tensor]:
    """The same vectors on a device, those that come from one other device by one transfer; gradients go through.

    >>> moved({"a": torch.ones(2), "b": torch.zeros(1, 3)}, torch.device("meta"))["b"].shape
    torch.Size([1, 3])
    """
    found = dict(weights)
    for group in _elsewhere(weights, device):
        joined = torch.cat([weights[name].reshape(-1) for name in group]).to(device)
        parts = torch.split(joined, [weights[name].numel() for name in group])
        found |= {name: part.reshape(weights[name].shape) for name, part in zip(group, parts, strict=True)}
    return found


def _elsewhere(weights: Weights, device: torch.device) -> Iterator[list[str]]:
    """Names of vectors that are elsewhere, by device and type. What has no numbers (the meta device) stays."""
    groups: dict[tuple[torch.device, torch.dtype], list[str]] = {}
    for name, vector in weights.items():
        if vector.device != device and not vector.is_meta:
            groups.setdefault((vector.device, vector.dtype), []).append(name)
    yield from groups.values()

"""Averages of weights over the last steps: what is judged and kept, while the training goes on with its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

#: the first steps count for less: after k of them the decay is at most k / (k + EARLY)
EARLY = 9


class Average:
    """The exponential average of a network's weights and buffers: `a ← d a + (1 - d) w` after each step.

    After step k the decay d is `min(decay, k / (k + 9))`, so that the fresh weights are soon forgotten. On small data the
    weights jump about at every step; their average does less of it (Polyak and Juditsky, 1992).

    >>> network = nn.Linear(1, 1, bias=False)
    >>> average = Average(network, 0.5)
    >>> _ = nn.init.constant_(network.weight, 3.0)
    >>> average.update(100)
    >>> with average.used():
    ...     inside = float(network.weight.detach())
    >>> float(network.weight.detach()), inside != 3.0
    (3.0, True)
    """

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.network, self.decay = network, decay
        self._held = {key: one.clone() for key, one in self._live().items()}
        self._own: dict[str, Tensor] | None = None

    def _live(self) -> dict[str, Tensor]:
        return {key: one.detach() for key, one in self.network.state_dict().items() if isinstance(one, Tensor)}

    def update(self, step: int) -> None:
        """Take in the weights after step number `step`, counted from 1; whole numbers are taken as they are."""
        live = self._live()
        floating = [key for key, one in live.items() if one.is_floating_point()]
        share = 1 - min(self.decay, step / (step + EARLY))
        with torch.no_grad():
            torch._foreach_lerp_([self._held[key] for key in floating], [live[key] for key in floating], share)
            for key in live.keys() - set(floating):
                self._held[key].copy_(live[key])

    @contextmanager
    def used(self) -> Iterator[None]:
        """Inside, the network has the averages; afterwards its own weights again."""
        self._own = {key: one.clone() for key, one in self._live().items()}
        try:
            self._put(self._held)
            yield
        finally:
            self._put(self._own)
            self._own = None

    def _put(self, tensors: Mapping[str, Tensor]) -> None:
        with torch.no_grad():
            for key, one in self._live().items():
                one.copy_(tensors[key])

    @property
    def own(self) -> dict[str, Tensor]:
        """The network's own weights, also while the averages are used."""
        return self._live() if self._own is None else self._own

    def tensors(self) -> dict[str, Tensor]:
        """The averages, to be kept."""
        return self._held

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on from averages that were kept."""
        for key, one in self._held.items():
            one.copy_(tensors[key])

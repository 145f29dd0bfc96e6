"""On how many activations the samples of a batch agree, in all architectures of a stack."""

from __future__ import annotations

import torch
from torch import Tensor

from foresee.proxies.patterns.naswot import agreements
from foresee.scoring.stacked.network import Watch

#: numbers of maps whose signs are compared together
_ON_CPU, _ON_ACCELERATOR = 2**22, 2**29


class StackedPatterns(Watch):
    """Agreements of all pairs of samples, summed over the ReLUs of each of `count` architectures, while these run."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._agreed: Tensor | None = None
        self._finite: Tensor | None = None

    def relu(self, owners: Tensor | None, inputs: Tensor, outputs: Tensor, times: Tensor | None = None) -> None:
        """The signs of what goes in."""
        samples = inputs.shape[2]
        if self._agreed is None:
            shape = self._count, samples, samples
            self._agreed = torch.zeros(shape, dtype=torch.float64, device=inputs.device)
        most = max(1, (_ON_CPU if inputs.is_cpu else _ON_ACCELERATOR) // inputs[0].numel())
        parts = torch.split(inputs, most)
        found = torch.cat([agreements((part > 0).transpose(1, 2).flatten(2)) for part in parts])
        if times is not None:
            found = found * times[:, None, None]
        if owners is None:
            self._agreed += found
        else:
            self._agreed.index_add_(0, owners, found)

    def finish(self, outputs: Tensor) -> None:
        """The outputs say whether all numbers on the way were some."""
        assert self._agreed is not None
        self._agreed, self._finite = self._agreed.cpu(), outputs.isfinite().all(-1).all(-1).cpu()

    def agreements(self, place: int) -> Tensor:
        """Of one architecture, (samples, samples)."""
        assert self._agreed is not None
        assert self._finite is not None
        if not self._finite[place]:
            raise FloatingPointError("the outputs are NaN or infinite")
        return self._agreed[place]

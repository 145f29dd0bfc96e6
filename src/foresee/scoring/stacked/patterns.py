"""On how many activations the samples of a batch agree, in all architectures of a stack."""

from __future__ import annotations

import torch
from torch import Tensor

from foresee.proxies.patterns.naswot import Measure, agreeing, together
from foresee.scoring.stacked.network import Watch

#: numbers of maps whose signs are compared together
_ON_CPU, _ON_ACCELERATOR = 2**22, 2**29
#: so many units at a time are counted exactly in float16, which the matrix units of an accelerator read
_HALF = 2**11


class StackedPatterns(Watch):
    """Agreements of all pairs of samples, summed over the ReLUs of each of `count` architectures, while these run.

    What is summed is on how many units two samples are positive together: whether they agree follows from that at the end.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._both: Tensor | None = None
        self._units: Tensor | None = None
        self._finite: Tensor | None = None
        self._measured: dict[Measure, tuple[Tensor, ...]] = {}

    def relu(self, owners: Tensor | None, inputs: Tensor, outputs: Tensor, times: Tensor | None = None) -> None:
        """The signs of what goes in."""
        if self._both is None or self._units is None:
            self._both = inputs.new_zeros((self._count, inputs.shape[2], inputs.shape[2]), dtype=torch.float64)
            self._units = inputs.new_zeros(self._count, dtype=torch.float64)
        most = max(1, (_ON_CPU if inputs.is_cpu else _ON_ACCELERATOR) // inputs[0].numel())
        both = torch.cat([positive_together(part, halves=part.is_cuda) for part in torch.split(inputs, most)])
        units = inputs.new_full((len(both),), inputs[0, :, 0].numel(), dtype=torch.float64)
        if times is not None:
            both, units = both * times[:, None, None], units * times
        if owners is None:
            self._both += both
            self._units += units
        else:
            self._both.index_add_(0, owners, both)
            self._units.index_add_(0, owners, units)

    def finish(self, outputs: Tensor) -> None:
        """The outputs say whether all numbers on the way were some."""
        self._finite = outputs.isfinite().all(-1).all(-1).cpu()

    def measured(self, formula: Measure, place: int) -> tuple[Tensor, ...]:
        """What a formula gives for the agreements of one architecture: it is asked once, for all of the stack."""
        assert self._both is not None
        assert self._units is not None
        assert self._finite is not None
        if not self._finite[place]:
            raise FloatingPointError("the outputs are NaN or infinite")
        if formula not in self._measured:
            made = formula(agreeing(self._both, self._units[:, None, None]))
            self._measured[formula] = tuple(one.cpu() for one in made)
        return tuple(one[place] for one in self._measured[formula])


def positive_together(maps: Tensor, *, halves: bool) -> Tensor:
    """On how many units two samples are positive together: (n, channels, samples, H, W) to (n, samples, samples).

    `halves`: some channels at a time in float16, where these are as few as it counts exactly.
    """
    channels, units = maps.shape[1], maps.shape[3] * maps.shape[4]
    exact = torch.float32 if channels * units < 2**24 else torch.float64
    if halves and units <= _HALF:
        exact = torch.float16
        channels = max(some for some in range(1, channels + 1) if channels % some == 0 and some * units <= _HALF)
    shares = maps.view(len(maps), -1, channels, *maps.shape[2:]).transpose(2, 3)
    ones = torch.empty(shares.shape, dtype=exact, device=maps.device)
    torch.gt(shares, 0, out=ones)  # at once in the order and the type that are wanted
    return together(ones.flatten(3)).sum(1, dtype=torch.float64)

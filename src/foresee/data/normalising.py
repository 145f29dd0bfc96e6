"""Normalising: the mean and standard deviation of each channel, measured and applied."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from foresee.errors import InputError


@dataclass(frozen=True)
class Statistics:
    """Mean and standard deviation of each channel.

    >>> Statistics((0.5,), (0.25,)).apply(torch.ones(1, 1, 2, 2)).unique()
    tensor([2.])
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __post_init__(self) -> None:
        sound = all(math.isfinite(m) for m in self.mean) and all(0 < s < math.inf for s in self.std)
        if not sound or len(self.mean) != len(self.std):
            raise InputError(
                f"statistics mean {self.mean}, std {self.std}: expected one finite mean and one std above 0 per channel"
            )

    def apply(self, inputs: Tensor) -> Tensor:
        """`(inputs - mean) / std`, the channels on axis 1."""
        if inputs.shape[1] != len(self.mean):
            raise InputError(f"statistics of {len(self.mean)} channels for inputs of {inputs.shape[1]}")
        axes = (1, -1) + (1,) * (inputs.ndim - 2)
        return (inputs - inputs.new_tensor(self.mean).view(axes)) / inputs.new_tensor(self.std).view(axes)


def measure(chunks: Iterable[Tensor]) -> Statistics:
    """The statistics of samples that come in chunks of shape (n, channels, ...), in float64.

    A constant channel gets the standard deviation 1.

    >>> measure([torch.tensor([[0.0], [2.0]]), torch.tensor([[4.0], [6.0]])]).mean
    (3.0,)
    """
    seen, mean, squares = 0, torch.zeros(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    for chunk in chunks:
        # One pass: each chunk's own moments are joined to those so far, which loses no digits to a large mean.
        values = chunk.double().transpose(0, 1).flatten(1)
        more = values.shape[1]
        shift = values.mean(1) - mean
        squares = squares + values.var(1, correction=0) * more + shift.square() * (seen * more / (seen + more))
        mean, seen = mean + shift * (more / (seen + more)), seen + more
    std = (squares / seen).sqrt()
    constant = std <= 1e-6 * mean.abs() + 1e-12  # what is left is rounding: dividing by it would make it the signal
    # The last digits of a sum depend on the number of threads; rounded, every worker normalises alike.
    return Statistics(_rounded(mean), _rounded(torch.where(constant, 1.0, std)))


def _rounded(values: Tensor) -> tuple[float, ...]:
    return tuple(float(f"{value:.9g}") for value in values.tolist())

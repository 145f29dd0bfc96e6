"""What an epoch has seen so far: sums that stay on the device until somebody asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from foresee.training.steps import StepResult


class Running:
    """Sums over the steps of an epoch, in float64; asking for a mean waits for the device.

    >>> sums = Running()
    >>> sums.add(StepResult(torch.tensor(2.0), torch.tensor(3.0), 4, 0.1))
    >>> sums.loss, sums.accuracy, sums.samples
    (2.0, 0.75, 4)
    """

    def __init__(self) -> None:
        self.samples, self.rate, self.seconds = 0, 0.0, 0.0
        self._loss: float | Tensor = 0.0
        self._correct: float | Tensor = 0.0

    def add(self, found: StepResult) -> None:
        """Take one step in."""
        kind = torch.float32 if found.loss.device.type == "mps" else torch.float64  # that device has no other
        self._loss = self._loss + found.loss.to(kind) * found.samples
        self._correct = self._correct + found.correct.to(kind)
        self.samples += found.samples
        self.rate = found.rate

    @property
    def loss(self) -> float:
        """The mean over all samples."""
        return float(self._loss) / self.samples

    @property
    def accuracy(self) -> float:
        """The share that was right."""
        return float(self._correct) / self.samples

    def to_json(self) -> dict[str, Any]:
        """Plain values, from which the sums go on exactly."""
        sums = {"loss": float(self._loss), "correct": float(self._correct)}
        return {**sums, "samples": self.samples, "rate": self.rate, "seconds": self.seconds}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Running:
        """Inverse of `to_json`."""
        made = cls()
        made._loss, made._correct = plain["loss"], plain["correct"]
        made.samples, made.rate, made.seconds = plain["samples"], plain["rate"], plain["seconds"]
        return made

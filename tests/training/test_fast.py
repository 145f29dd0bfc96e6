"""What the recipe `fast` promises: digits on a CPU, in a minute."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import foresee as fs
from foresee.data import Digits


def block(inputs: int, outputs: int) -> list[nn.Module]:
    return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]


@pytest.mark.slow
def test_digits_reach_97_percent_within_30_epochs() -> None:
    torch.manual_seed(0)
    body = [*block(1, 16), *block(16, 32), nn.MaxPool2d(2), *block(32, 32), nn.AdaptiveAvgPool2d(2)]
    network = nn.Sequential(*body, nn.Flatten(), nn.Linear(128, 10))
    data, test = (Digits(channels=1, size=8, split=split) for split in ("train", "test"))
    found = fs.train(network, data, "fast", test=test, epochs=30, seed=1)
    assert found.test is not None
    assert found.test.accuracy is not None
    assert found.test.accuracy >= 0.97

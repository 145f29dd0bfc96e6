"""Networks and trainings for the tests of export: small, and of every kind of input."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from foresee.data.normalising import Statistics
from foresee.spaces import get
from foresee.spaces.candidate import Candidate
from foresee.task import Task

STATISTICS = Statistics((0.5, 0.4, 0.3), (0.2, 0.25, 0.3))
CLASSES = ("cat", "dog", "emu")


class Small(nn.Module):
    """Convolution, batch norm, pooling: what evaluation changes."""

    def __init__(self, outputs: int = 3) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.5))
        self.head = nn.Linear(4, outputs)

    def forward(self, images: Tensor) -> Tensor:
        found: Tensor = self.head(self.body(images).mean((2, 3)))
        return found


def small(seed: int = 0) -> Small:
    """With batch statistics that are not those of a new network."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Small()
        network(torch.randn(8, 3, 8, 8))
    return network


def mlp() -> Candidate:
    """An architecture of a registered space."""
    space = get("mlp")
    return Candidate(space, space.parse("mlp(16)"), Task((3, 4, 4), 3), {"weights_seed": 3})


def trained(network: nn.Module, candidate: Candidate | None = None, **changes: Any) -> Any:
    """As much of a `Trained` as an export looks at."""
    facts = {"normalised by": {"mean": list(STATISTICS.mean), "std": list(STATISTICS.std)}}
    task = Task((3, 8, 8), 3) if candidate is None else candidate.task
    plain = {
        "network": network,
        "candidate": candidate,
        "task": task,
        "classes": CLASSES,
        "facts": facts,
        "folder": None,
    }
    return SimpleNamespace(**{**plain, **changes})

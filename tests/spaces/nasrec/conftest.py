"""Small click logs and spaces for the tests of NASRec."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from foresee.seeds import generator
from foresee.task import Task


@pytest.fixture
def task() -> Task:
    return Task((5,), 1, vocabularies=(7, 3, 11))


@pytest.fixture
def clicks():
    """A function that draws dense features and indices for any click-log task."""

    def draw(task: Task, count: int = 4, seed: int = 0) -> tuple[Tensor, Tensor]:
        draws = generator(seed, "clicks")
        dense = torch.randn(count, *task.inputs, generator=draws)
        sparse = [torch.randint(rows, (count,), generator=draws) for rows in task.vocabularies]
        return dense, torch.stack(sparse, 1)

    return draw

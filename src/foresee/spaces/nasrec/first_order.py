"""The part of first order that wide networks have beside their deep one: a weight for each number and each value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from foresee.task import Task

#: standard deviation of fresh embeddings
SPREAD = 0.01


class Tables(nn.Module):
    """One table per sparse feature: (B, s) whole numbers to (B, s, dimension)."""

    def __init__(self, vocabularies: Sequence[int], dimension: int, spread: float = SPREAD) -> None:
        super().__init__()
        # one table for all features, each with rows of its own from `first` on: one look-up instead of s
        rows = torch.tensor([0, *vocabularies]).cumsum(0)
        self.register_buffer("first", rows[:-1], persistent=False)
        self.first: Tensor
        self.table = nn.Embedding(int(rows[-1]), dimension)
        nn.init.normal_(self.table.weight, std=spread)

    def forward(self, sparse: Tensor) -> Tensor:
        """The row of each value."""
        found: Tensor = self.table(sparse + self.first)
        return found


class FirstOrder(nn.Module):
    """`w_0 + Σ w_i x_i + Σ_j w_j[category]`, as (B, 1): a logistic regression, all of its weights 0 at first.

    >>> FirstOrder(Task((2,), 1, vocabularies=(3, 4)))(torch.ones(5, 2), torch.zeros(5, 2).long()).sum().item()
    0.0
    """

    #: what a recipe's `first_order` says is said of modules with this mark
    first_order: ClassVar[bool] = True

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.embedded = nn.Parameter(torch.zeros(task.inputs[0], 1))
        self.tables = Tables(task.vocabularies, 1)
        self.bias = nn.Parameter(torch.zeros(1))
        nn.init.zeros_(self.tables.table.weight)

    def forward(self, dense: Tensor, sparse: Tensor) -> Tensor:
        """The sum."""
        out: Tensor = dense @ self.embedded + self.tables(sparse).sum(1) + self.bias
        return out

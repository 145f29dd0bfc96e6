"""What several recommenders are made of: embeddings, the linear part, deep parts.

Dense features are `x` (B, n), sparse ones whole numbers (B, s); together they are the `m = n + s` fields of a sample. All
embeddings have the same dimension, 16 as NASRec's are, so that networks found and networks by hand are of one size.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from foresee.task import Task

#: dimension of embeddings, unless a setting says otherwise
EMBEDDING = 16
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


class Fields(nn.Module):
    """Every field as a vector, (B, n) and (B, s) to (B, n + s, dimension).

    A category has a vector of its own, a number `x_i` one that it scales, `x_i v_i`: so a number is a category of one value
    that is there to some degree (DeepFM, section 2; xDeepFM, 3.1; AutoInt, 4.3).
    """

    def __init__(self, task: Task, dimension: int) -> None:
        super().__init__()
        self.embedded = nn.Parameter(torch.empty(task.inputs[0], dimension).normal_(std=SPREAD))
        self.tables = Tables(task.vocabularies, dimension)

    def forward(self, dense: Tensor, sparse: Tensor) -> Tensor:
        """The vectors, numbers first."""
        return torch.cat([dense.unsqueeze(2) * self.embedded, self.tables(sparse)], 1)


class Linear(nn.Module):
    """The part of first order, `w_0 + Σ w_i x_i + Σ_j w_j[category]`, as (B, 1): embeddings of dimension 1."""

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


def layers(inputs: int, widths: Sequence[int], dropout: float = 0.0) -> nn.Sequential:
    """A deep part: for each width a linear layer, ReLU and dropout; (B, inputs) to (B, widths[-1])."""
    made: list[nn.Module] = []
    for before, width in pairwise([inputs, *widths]):
        made += [linear(before, width), nn.ReLU(), *([nn.Dropout(dropout)] if dropout else [])]
    return nn.Sequential(*made)


def linear(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
    """A linear layer with Xavier-uniform weights and a bias of zero."""
    layer = nn.Linear(inputs, outputs, bias=bias)
    nn.init.xavier_uniform_(layer.weight)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer

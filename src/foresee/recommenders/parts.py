"""What several recommenders are made of: embeddings, the linear part, deep parts.

Dense features are `x` (B, n), sparse ones whole numbers (B, s); together they are the `m = n + s` fields of a sample. All
embeddings have the same dimension, 16 as NASRec's are, so that networks found and networks by hand are of one size.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from foresee.spaces.nasrec.first_order import SPREAD, Tables
from foresee.spaces.nasrec.first_order import FirstOrder as Linear
from foresee.task import Task

__all__ = ["EMBEDDING", "SPREAD", "Fields", "Linear", "Tables", "layers", "linear"]

#: dimension of embeddings, unless a setting says otherwise
EMBEDDING = 16


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

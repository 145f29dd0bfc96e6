"""DLRM: numbers through a network of their own, then inner products of all pairs of vectors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from foresee.recommenders.base import click_log, recommenders
from foresee.recommenders.parts import EMBEDDING, Tables, layers, linear
from foresee.task import Task


@recommenders.register("dlrm")
class DLRM(nn.Module):
    """Bottom network, dot interactions, top network.

    With `z_0 = bottom(x)` (dimension k) and `z_j` the embedding of category j, the pairs are `p = (z_i · z_j)` for
    `0 ≤ j < i ≤ s`, and `logit = top([z_0, p])`.

    Args:
        task: a click log's.
        embedding: dimension k of the vectors.
        bottom: widths of the bottom network before its last layer, which has k outputs (the public code: 512, 256, 64).
        top: widths of the top network before the logit.
        dropout: after each layer of the top network; the paper has none.
    """

    summary = "bottom network, inner products of all pairs, top network"
    source = "Naumov et al., Deep learning recommendation model, 2019"

    def __init__(
        self,
        task: Task,
        *,
        embedding: int = EMBEDDING,
        bottom: Sequence[int] = (512, 256, 64),
        top: Sequence[int] = (512, 256),
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        dense, sparse = click_log(task, "dlrm")
        self.bottom = layers(dense, [*bottom, embedding])
        self.tables = Tables(task.vocabularies, embedding)
        pairs = (sparse + 1) * sparse // 2
        self.top = nn.Sequential(layers(embedding + pairs, top, dropout), linear([embedding + pairs, *top][-1], 1))

    def forward(self, dense: Tensor, sparse: Tensor) -> Tensor:
        """Dense features (B, n) and categories (B, s) to logits (B, 1)."""
        first = self.bottom(dense)
        vectors = torch.cat([first.unsqueeze(1), self.tables(sparse)], 1)
        out: Tensor = self.top(torch.cat([first, interactions(vectors)], 1))
        return out


def interactions(vectors: Tensor) -> Tensor:
    """Inner products of all pairs, each once: (B, m, k) to (B, m (m - 1) / 2).

    >>> interactions(torch.tensor([[[1.0, 0.0], [2.0, 5.0], [0.0, 3.0]]])).tolist()
    [[2.0, 0.0, 15.0]]
    """
    gram = vectors @ vectors.transpose(1, 2)
    row, column = torch.tril_indices(gram.shape[1], gram.shape[1], -1, device=gram.device)
    return gram[:, row, column]

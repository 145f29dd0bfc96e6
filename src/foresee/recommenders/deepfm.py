"""DeepFM: a factorisation machine and a deep network over the same embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from foresee.recommenders.base import click_log, recommenders
from foresee.recommenders.parts import EMBEDDING, Fields, Linear, layers, linear
from foresee.task import Task


@recommenders.register("deepfm")
class DeepFM(nn.Module):
    """`logit = y_FM + y_DNN`, both of the vectors `v_1 ... v_m` of the fields.

    `y_FM = w_0 + Σ w_i x_i + Σ_{i<j} v_i · v_j` (equation 2; here `v_i` has its `x_i` in it already), and `y_DNN` is a deep
    network of the vectors side by side (equations 3 and 4).

    Args:
        task: a click log's.
        embedding: dimension of the vectors.
        deep: widths of the deep network (the paper's: three of 400).
        dropout: after each of its layers (the paper's: 0.5).
    """

    summary = "factorisation machine and deep network over shared embeddings"
    source = "Guo et al., DeepFM, IJCAI 2017"

    def __init__(
        self, task: Task, *, embedding: int = EMBEDDING, deep: Sequence[int] = (400, 400, 400), dropout: float = 0.5
    ) -> None:
        super().__init__()
        fields = sum(click_log(task, "deepfm"))
        self.linear = Linear(task)
        self.fields = Fields(task, embedding)
        self.deep = nn.Sequential(layers(fields * embedding, deep, dropout), linear([fields * embedding, *deep][-1], 1))

    def forward(self, dense: Tensor, sparse: Tensor) -> Tensor:
        """Dense features (B, n) and categories (B, s) to logits (B, 1)."""
        vectors = self.fields(dense, sparse)
        out: Tensor = self.linear(dense, sparse) + pairwise_sum(vectors) + self.deep(vectors.flatten(1))
        return out


def pairwise_sum(vectors: Tensor) -> Tensor:
    """`Σ_{i<j} v_i · v_j` of (B, m, k) as (B, 1), in O(mk): `(|Σ v_i|² - Σ |v_i|²) / 2` (Rendle, 2010).

    >>> import torch
    >>> pairwise_sum(torch.tensor([[[1.0, 0.0], [2.0, 5.0], [0.0, 3.0]]])).tolist()
    [[17.0]]
    """
    together, alone = vectors.sum(1).square(), vectors.square().sum(1)
    return (together - alone).sum(1, keepdim=True) / 2

"""xDeepFM: a compressed interaction network, a deep network and a linear part."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from foresee.recommenders.base import click_log, recommenders
from foresee.recommenders.parts import EMBEDDING, Fields, Linear, layers, linear
from foresee.task import Task


class CompressedInteractions(nn.Module):
    """CIN: layer k holds interactions of order k + 1, vector by vector (xDeepFM, equations 6 to 8).

    With `X⁰` the m vectors of the fields, `X^k_h = Σ_{i,j} W^{k,h}_{ij} (X^{k-1}_i ∘ X⁰_j)`, `∘` being the product by
    elements; every feature map is summed over the dimension, and all sums side by side are the output.

    Args:
        fields: m.
        maps: feature maps H_1, H_2, ... of the layers.
    """

    def __init__(self, fields: int, maps: Sequence[int]) -> None:
        super().__init__()
        self.weights = nn.ParameterList(
            nn.init.xavier_uniform_(torch.empty(made, before * fields)) for before, made in pairwise([fields, *maps])
        )

    def forward(self, vectors: Tensor) -> Tensor:
        """(B, m, d) to (B, Σ maps)."""
        batch, _, dimension = vectors.shape
        found, sums = vectors, []
        for weight in self.weights:
            products = (found.unsqueeze(2) * vectors.unsqueeze(1)).reshape(batch, -1, dimension)
            found = weight @ products
            sums.append(found.sum(2))
        return torch.cat(sums, 1)


@recommenders.register("xdeepfm")
class XDeepFM(nn.Module):
    """`logit = linear(x) + w_c · CIN(X⁰) + w_d · deep(X⁰)` (equation 10), the CIN without activations.

    Args:
        task: a click log's.
        embedding: dimension d of the vectors.
        maps: feature maps of each layer of the CIN (the paper's: 200 on Criteo, 100 elsewhere; fewer here, for small logs).
        deep: widths of the deep network (the paper's: 400 each).
        dropout: after each of its layers (the paper's: 0.5).
    """

    summary = "compressed interactions, deep network and linear part"
    source = "Lian et al., xDeepFM, KDD 2018"

    def __init__(
        self,
        task: Task,
        *,
        embedding: int = EMBEDDING,
        maps: Sequence[int] = (32, 32),
        deep: Sequence[int] = (400, 400),
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        fields = sum(click_log(task, "xdeepfm"))
        self.linear = Linear(task)
        self.fields = Fields(task, embedding)
        self.interactions = CompressedInteractions(fields, maps)
        self.read = linear(sum(maps), 1, bias=False)
        self.deep = nn.Sequential(layers(fields * embedding, deep, dropout), linear([fields * embedding, *deep][-1], 1))

    def forward(self, dense: Tensor, sparse: Tensor) -> Tensor:
        """Dense features (B, n) and categories (B, s) to logits (B, 1)."""
        vectors = self.fields(dense, sparse)
        interacting = self.read(self.interactions(vectors))
        out: Tensor = self.linear(dense, sparse) + interacting + self.deep(vectors.flatten(1))
        return out

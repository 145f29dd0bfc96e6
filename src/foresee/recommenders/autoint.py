"""AutoInt+: fields that attend to each other, beside a deep network."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from foresee.recommenders.base import click_log, recommenders
from foresee.recommenders.parts import EMBEDDING, Fields, layers, linear
from foresee.task import Task


class Interacting(nn.Module):
    """One interacting layer: every field becomes a mixture of those it attends to (AutoInt, equations 5 to 8).

    For head h, `α_mk = softmax_k(⟨W_Q e_m, W_K e_k⟩)` and `e_m^h = Σ_k α_mk W_V e_k`; the heads side by side plus what the
    field was are the output, `ReLU(⊕_h e_m^h + W_R e_m)`. The scores are not divided by a root, as in the paper.

    Args:
        inputs: dimension of the vectors that come in.
        width: dimension of each head.
        heads: how many; the output has dimension `heads · width`.
    """

    def __init__(self, inputs: int, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.kept = (
            linear(inputs, heads * width, bias=False) for _ in ("query", "key", "value", "kept")
        )
        self.act = nn.ReLU()

    def attended(self, vectors: Tensor) -> Tensor:
        """The heads side by side: (B, m, inputs) to (B, m, heads · width)."""
        batch, fields, _ = vectors.shape
        query, key, value = (
            layer(vectors).reshape(batch, fields, self.heads, -1).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        mixed: Tensor = (query @ key.transpose(2, 3)).softmax(3) @ value
        return mixed.transpose(1, 2).reshape(batch, fields, -1)

    def forward(self, vectors: Tensor) -> Tensor:
        """(B, m, inputs) to (B, m, heads · width)."""
        out: Tensor = self.act(self.attended(vectors) + self.kept(vectors))
        return out


@recommenders.register("autoint")
class AutoInt(nn.Module):
    """`logit = w · [e_1, ..., e_m] + b` after several interacting layers, and the deep part of AutoInt+ added.

    Args:
        task: a click log's.
        embedding: dimension of the vectors.
        width: dimension of each head (the paper's: 32).
        heads: heads of each layer (the paper's: 2).
        depth: interacting layers (the paper's: 3).
        deep: widths of the deep network; () leaves it out: AutoInt without the plus.
        dropout: after each of its layers.
    """

    summary = "self-attention over fields, and a deep network (AutoInt+)"
    source = "Song et al., AutoInt, CIKM 2019"

    def __init__(
        self,
        task: Task,
        *,
        embedding: int = EMBEDDING,
        width: int = 32,
        heads: int = 2,
        depth: int = 3,
        deep: Sequence[int] = (400, 400),
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        fields = sum(click_log(task, "autoint"))
        self.fields = Fields(task, embedding)
        sizes = [embedding] + [heads * width] * depth
        self.interacting = nn.Sequential(*(Interacting(size, width, heads) for size in sizes[:-1]))
        self.read = linear(fields * sizes[-1], 1)
        parts = [layers(fields * embedding, deep, dropout), linear(deep[-1], 1, bias=False)] if deep else []
        self.deep = nn.Sequential(*parts) if deep else None

    def forward(self, dense: Tensor, sparse: Tensor) -> Tensor:
        """Dense features (B, n) and categories (B, s) to logits (B, 1)."""
        vectors = self.fields(dense, sparse)
        out: Tensor = self.read(self.interacting(vectors).flatten(1))
        return out if self.deep is None else out + self.deep(vectors.flatten(1))

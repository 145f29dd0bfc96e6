"""Logistic regression: one weight per number and per category, and no interaction at all."""

from __future__ import annotations

from torch import Tensor, nn

from foresee.recommenders.base import click_log, recommenders
from foresee.recommenders.parts import Linear
from foresee.task import Task


@recommenders.register("logistic")
class Logistic(nn.Module):
    """`logit = w_0 + Σ_i w_i x_i + Σ_j w_j[c_j]`: what any network has to beat to be worth its weights."""

    summary = "one weight per number and category"
    source = "Richardson et al., Predicting clicks, WWW 2007"

    def __init__(self, task: Task) -> None:
        super().__init__()
        click_log(task, "logistic")
        self.linear = Linear(task)

    def forward(self, dense: Tensor, sparse: Tensor) -> Tensor:
        """Dense features (B, n) and categories (B, s) to logits (B, 1)."""
        out: Tensor = self.linear(dense, sparse)
        return out

"""How far a prediction is from being another one."""

from __future__ import annotations

import torch
from torch import Tensor


def margin(logits: Tensor, labels: Tensor) -> Tensor:
    """`z_y - max_{i ≠ y} z_i`, (n,): below zero the sample is taken for another class.

    >>> margin(torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([0]))
    tensor([1.])
    """
    return of_class(logits, labels) - without(logits, labels).amax(1)


def of_class(logits: Tensor, classes: Tensor) -> Tensor:
    """`z_c` of one class for each sample, (n,)."""
    return logits.gather(1, classes[:, None])[:, 0]


def without(logits: Tensor, labels: Tensor) -> Tensor:
    """The logits with minus infinity in the place of each sample's label."""
    return logits.scatter(1, labels[:, None], -torch.inf)


def targets(logits: Tensor, labels: Tensor, most: int) -> Tensor:
    """The classes that come next after the label, likeliest first, (n, min(most, classes - 1)).

    >>> targets(torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([0]), 9)
    tensor([[2, 1]])
    """
    return without(logits, labels).topk(min(most, logits.shape[1] - 1), dim=1).indices

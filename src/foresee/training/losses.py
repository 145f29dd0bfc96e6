"""What is made small: chosen by what the labels are, with smoothed and soft targets, and a teacher's answers.

Labels are of one of three kinds: `classes` (whole numbers, cross-entropy), `answers` (yes or no, one or several per sample,
binary cross-entropy of logits) and `values` (a regression, squared error).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from foresee.errors import InputError

Kind = Literal["classes", "answers", "values"]


def kind_of(labels: Iterable[Tensor], outputs: int) -> Kind:
    """What labels are, for a network of so many outputs.

    >>> kind_of([torch.tensor([0, 3])], 10), kind_of([torch.tensor([[0.0], [1.0]])], 1), kind_of([torch.tensor([[0.3]])], 1)
    ('classes', 'answers', 'values')
    """
    parts = list(labels)
    whole = not parts[0].is_floating_point()
    if whole and outputs > 1 and (parts[0].ndim == 1 or parts[0].shape[-1] != outputs):
        return "classes"
    binary = all(bool(((part == 0) | (part == 1)).all()) for part in parts)
    if whole and not binary:
        raise InputError(
            "labels: whole numbers above 1 for one output; expected 0 and 1, or as many outputs as classes"
        )
    return "answers" if binary else "values"


def loss(outputs: Tensor, targets: Tensor, kind: Kind, smoothing: float = 0.0) -> Tensor:
    """The mean loss of outputs (n, classes) or (n, outputs), in float32 at least.

    Targets of classes are their numbers (n,), or soft: a share for each, (n, classes). Of maps and sequences, classes are on
    the axis that the targets lack: the last one, or the second. Smoothing gives the share `smoothing` of every target to all
    classes alike (of yes or no: to both).

    >>> loss(torch.tensor([[2.0, 0.0]]), torch.tensor([0]), "classes").item() == loss(
    ...     torch.tensor([[2.0, 0.0]]), torch.tensor([[1.0, 0.0]]), "classes").item()
    True
    """
    outputs = outputs.float() if outputs.dtype in (torch.float16, torch.bfloat16) else outputs
    if kind == "classes":
        outputs, targets = aligned(outputs, targets)
        return F.cross_entropy(outputs, targets, label_smoothing=smoothing)
    targets = fitted(outputs, targets)
    if kind == "answers":
        return F.binary_cross_entropy_with_logits(outputs, targets * (1 - smoothing) + smoothing / 2)
    return F.mse_loss(outputs, targets)


def distil(outputs: Tensor, teacher: Tensor, kind: Kind, temperature: float = 1.0) -> Tensor:
    """How far the outputs are from a teacher's.

    Of classes `T² KL(softmax(teacher / T) || softmax(outputs / T))`, mean over samples (Hinton et al., 2015); of answers `T²`
    times the binary cross-entropy of the teacher's probabilities at `T`; of values the squared error.
    """
    outputs, teacher = outputs.float(), teacher.float()
    if kind == "classes":
        ours, theirs = (F.log_softmax(one / temperature, 1) for one in (outputs, teacher))
        return F.kl_div(ours, theirs, reduction="batchmean", log_target=True) * temperature**2
    if kind == "answers":
        probabilities = torch.sigmoid(teacher / temperature)
        return F.binary_cross_entropy_with_logits(outputs / temperature, probabilities) * temperature**2
    return F.mse_loss(outputs, teacher)


def correct(outputs: Tensor, labels: Tensor, kind: Kind) -> Tensor:
    """How many samples are right, as a tensor: of several answers or positions per sample, the share of each counts.

    A regression has none: zero.

    >>> correct(torch.tensor([[2.0, 0.0], [1.0, 0.0]]), torch.tensor([0, 1]), "classes")
    tensor(1.)
    """
    outputs = outputs.detach()
    if kind == "values":
        return outputs.new_zeros((), dtype=torch.float32)
    if kind == "classes":
        samples = len(labels)
        outputs, labels = aligned(outputs, labels)
        hits = outputs.argmax(1) == labels
        return hits.float().mean() * samples if hits.ndim > 1 or len(hits) != samples else hits.sum().float()
    hits = (outputs > 0) == (fitted(outputs, labels) > 0.5)
    return hits.float().reshape(len(hits), -1).mean(1).sum()


def aligned(outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Outputs with the classes on axis 1, for targets of class numbers; soft targets are of the outputs' shape already."""
    if targets.is_floating_point():
        if outputs.shape != targets.shape:
            raise InputError(f"soft targets of shape {tuple(targets.shape)} for outputs of {tuple(outputs.shape)}")
        return outputs, targets
    if targets.ndim > 1 and outputs.shape[:-1] == targets.shape:  # sequences: (n, length, classes)
        return outputs.reshape(-1, outputs.shape[-1]), targets.reshape(-1)
    if outputs.ndim != targets.ndim + 1 or outputs.shape[:1] + outputs.shape[2:] != targets.shape:
        raise InputError(
            f"labels of shape {tuple(targets.shape)} do not fit outputs of shape {tuple(outputs.shape)}: one class each"
        )
    return outputs, targets


def fitted(outputs: Tensor, targets: Tensor) -> Tensor:
    """Targets as numbers in the outputs' shape; a column may be written as a row of numbers."""
    if targets.numel() != outputs.numel():
        raise InputError(f"labels of shape {tuple(targets.shape)} do not fit outputs of shape {tuple(outputs.shape)}")
    return targets.reshape(outputs.shape).to(outputs.dtype)

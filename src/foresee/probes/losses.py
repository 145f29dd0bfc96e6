"""Which loss a proxy takes gradients of: chosen from the labels and the outputs, or given by the caller."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch.nn.functional as F
from torch import Tensor

from foresee.errors import InputError, UnknownNameError

#: from (outputs, labels) to a scalar
Loss = Callable[[Tensor, Tensor], Tensor]


def cross_entropy(outputs: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy of class labels (...) against outputs (..., classes), or (samples, classes, ...) as in images.

    Labels outside the classes are an error that names them.
    """
    if outputs.ndim == labels.ndim + 1 and outputs.shape[:-1] == labels.shape:
        outputs, labels = outputs.reshape(-1, outputs.shape[-1]), labels.reshape(-1)
    elif outputs.ndim != labels.ndim + 1 or outputs.shape[:1] + outputs.shape[2:] != labels.shape:
        raise InputError(
            f"labels of shape {_shape(labels)} do not fit outputs of shape {_shape(outputs)}: one class each"
        )
    labels, classes = labels.long(), outputs.shape[1]
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= classes:
        raise InputError(
            f"labels from {low} to {high}, but the network has {classes} outputs: use labels 0 to {classes - 1}"
        )
    return F.cross_entropy(outputs, labels)


def binary_cross_entropy(outputs: Tensor, labels: Tensor) -> Tensor:
    """Mean binary cross-entropy of logits: one or several yes-or-no questions per sample, answers in [0, 1]."""
    answers = _fitted(outputs, labels)
    if bool(((answers < 0) | (answers > 1)).any()):
        raise InputError(
            f"labels from {float(answers.min()):g} to {float(answers.max()):g}: yes-or-no labels must lie in 0 to 1"
        )
    return F.binary_cross_entropy_with_logits(outputs, answers)


def squared_error(outputs: Tensor, labels: Tensor) -> Tensor:
    """Mean squared error of a regression."""
    return F.mse_loss(outputs, _fitted(outputs, labels))


LOSSES: dict[str, Loss] = {"cross_entropy": cross_entropy, "bce": binary_cross_entropy, "mse": squared_error}


def choose(loss: Loss | str | None, outputs: Tensor, labels: Sequence[Tensor]) -> Loss:
    """The loss given, or the one the labels (of all batches) and the outputs speak for.

    Whole-number class labels: cross-entropy. Whole numbers or floats that are all 0 or 1, shaped as the outputs: binary
    cross-entropy. Other floats: squared error.

    >>> import torch
    >>> choose(None, torch.zeros(4, 10), [torch.tensor([1, 2, 3, 9])]).__name__
    'cross_entropy'
    >>> choose(None, torch.zeros(4, 1), [torch.tensor([0.0, 1.0, 1.0, 0.0])]).__name__
    'binary_cross_entropy'
    """
    if callable(loss):
        return loss
    if loss is not None:
        if loss not in LOSSES:
            raise UnknownNameError("loss", loss, LOSSES)
        return LOSSES[loss]
    one_output = outputs.ndim < 2 or (outputs.ndim == 2 and outputs.shape[1] == 1)
    if not labels[0].is_floating_point() and not one_output and labels[0].shape != outputs.shape:
        return cross_entropy
    binary = all(bool(((part == 0) | (part == 1)).all()) for part in labels)
    if labels[0].is_floating_point() and not binary:
        return squared_error
    return binary_cross_entropy


def _fitted(outputs: Tensor, labels: Tensor) -> Tensor:
    """The labels as numbers of the outputs' type and shape (a last axis of one may be left out)."""
    if labels.numel() != outputs.numel() or len(labels) != len(outputs):
        raise InputError(
            f"labels of shape {_shape(labels)} do not fit outputs of shape {_shape(outputs)}: one number each"
        )
    return labels.to(outputs.dtype).reshape(outputs.shape)


def _shape(tensor: Tensor) -> str:
    return "x".join(map(str, tensor.shape)) or "()"

"""How good a network is on data: loss, accuracy, which classes it takes for which, and whether its confidence is right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from foresee.batch import Batch
from foresee.errors import DataError, InputError
from foresee.probes.outputs import logits_of
from foresee.training import losses

#: bins of confidence, as Guo et al. (2017) count them
BINS = 15
#: confusions of more classes are not kept: a page cannot show them
MOST_CLASSES = 200


@dataclass(frozen=True)
class Bin:
    """Predictions whose confidence lies in one bin: how many, their mean confidence, the share that was right."""

    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Evaluation:
    """What a network did on data.

    Args:
        samples: how many there were.
        loss: the mean over them, without smoothing.
        accuracy: share that was right (of several answers per sample: of all of them); None of a regression.
        confusion: how often class `row` was taken for class `column`; None where there are no classes, or too many.
        calibration: bins of confidence from 0 to 1; empty where there is no one class per sample.
        calibration_error: `Σ count / samples · |accuracy - confidence|` over the bins (Guo et al., 2017), or None.
    """

    samples: int
    loss: float
    accuracy: float | None = None
    confusion: tuple[tuple[int, ...], ...] | None = None
    calibration: tuple[Bin, ...] = ()
    calibration_error: float | None = None

    @property
    def merit(self) -> tuple[float, float]:
        """Higher is better: the accuracy, and of equal ones (or where there is none) the loss."""
        return (0.0 if self.accuracy is None else self.accuracy, -self.loss)

    def __str__(self) -> str:
        """One line: `97.5 % right, loss 0.08, of 360`."""
        right = "" if self.accuracy is None else f"{100 * self.accuracy:.2f} % right, "
        return f"{right}loss {self.loss:.4g}, of {self.samples:,}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Evaluation:
        """Inverse of `to_json`."""
        rows = plain.get("confusion")
        confusion = None if rows is None else tuple(tuple(row) for row in rows)
        bins = tuple(Bin(**one) for one in plain.get("calibration", ()))
        return cls(**{**plain, "confusion": confusion, "calibration": bins})


def evaluate(
    network: nn.Module,
    batches: Iterable[Batch],
    *,
    kind: losses.Kind | None = None,
    moved: Callable[[Batch], Batch] = lambda batch: batch,
    precise: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> Evaluation:
    """What a network does on these batches, in evaluation mode; modes and random states stay as they were.

    Args:
        network: with outputs (n, classes), or of whatever shape the labels fit.
        batches: with labels.
        kind: of the labels; None: as those of the first batch are.
        moved: brings a batch to where the network is.
        precise: the context of forward runs (autocast).

    >>> network = nn.Identity()
    >>> found = evaluate(network, [Batch(torch.tensor([[2.0, 0.0], [3.0, 0.0]]), torch.tensor([0, 1]))])
    >>> found.accuracy, found.confusion
    (0.5, ((1, 0), (1, 0)))
    """
    samples, total, right = 0, 0.0, 0.0
    confusion: Tensor | None = None
    sure: list[tuple[Tensor, Tensor]] = []
    with evaluating(network), torch.no_grad():
        for batch in batches:
            if batch.labels is None:
                raise DataError("evaluation: the data has no labels to compare with")
            batch = moved(batch)
            labels = cast("Tensor", batch.labels)
            with precise():
                outputs = logits_of(batch.call(network))
            outputs = outputs.float() if outputs.dtype in (torch.float16, torch.bfloat16) else outputs
            kind = kind or losses.kind_of([labels], outputs.shape[1] if outputs.ndim > 1 else 1)
            samples += len(batch)
            total += float(losses.loss(outputs, labels, kind)) * len(batch)
            right += float(losses.correct(outputs, labels, kind))
            if kind == "classes" and labels.ndim == 1:
                confidence, predicted = outputs.softmax(1).max(1)
                sure.append((confidence.cpu(), (predicted == labels).cpu()))
                if outputs.shape[1] <= MOST_CLASSES:
                    counted = confused(predicted, labels, outputs.shape[1])
                    confusion = counted if confusion is None else confusion + counted
    if not samples:
        raise DataError("evaluation: there is no batch to look at")
    bins = calibration(torch.cat([one for one, _ in sure]), torch.cat([one for _, one in sure])) if sure else ()
    error = sum(one.count * abs(one.accuracy - one.confidence) for one in bins) / samples if sure else None
    rows = None if confusion is None else tuple(tuple(row) for row in confusion.tolist())
    return Evaluation(samples, total / samples, None if kind == "values" else right / samples, rows, bins, error)


def confused(predicted: Tensor, labels: Tensor, classes: int) -> Tensor:
    """How often each class (row) was taken for each (column), int64 of shape (classes, classes).

    >>> confused(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    if labels.numel() and (int(labels.min()) < 0 or int(labels.max()) >= classes):
        raise InputError(
            f"labels from {int(labels.min())} to {int(labels.max())}, but the network has {classes} outputs"
        )
    return torch.bincount(labels * classes + predicted, minlength=classes**2).reshape(classes, classes).cpu()


def calibration(confidence: Tensor, hits: Tensor, bins: int = BINS) -> tuple[Bin, ...]:
    """Predictions by their confidence in bins of equal width, (low, high]; empty bins count 0.

    >>> calibration(torch.tensor([0.2, 0.9, 0.8]), torch.tensor([False, True, False]), bins=2)[1].accuracy
    0.5
    """
    place = (confidence.double() * bins).ceil().long().sub(1).clamp(0, bins - 1)
    count = torch.bincount(place, minlength=bins)
    share = count.clamp(min=1)
    sure = torch.bincount(place, weights=confidence.double(), minlength=bins) / share
    right = torch.bincount(place, weights=hits.double(), minlength=bins) / share
    return tuple(Bin(*one) for one in zip(count.tolist(), sure.tolist(), right.tolist(), strict=True))


def reestimate(
    network: nn.Module, batches: Iterable[Batch], *, moved: Callable[[Batch], Batch] = lambda batch: batch
) -> int:
    """Measure the statistics of all batch normalisations anew on these batches; returns how many layers have such.

    Mean and variance become the plain averages over the batches. Only the normalisations are in training mode meanwhile, so
    nothing is dropped; weights and modes stay. For weights that came from elsewhere: a supernet's, an average.
    """
    norms = [one for one in network.modules() if isinstance(one, _BatchNorm) and one.track_running_stats]
    if not norms:
        return 0
    kept = [one.momentum for one in norms]
    with evaluating(network), torch.no_grad():
        try:
            for one in norms:
                one.reset_running_stats()
                one.momentum = None  # the average of all that is seen
                one.training = True
            for batch in batches:
                moved(batch).call(network)
        finally:
            for one, momentum in zip(norms, kept, strict=True):
                one.momentum = momentum
    return len(norms)


@contextmanager
def evaluating(network: nn.Module) -> Iterator[None]:
    """Evaluation mode inside, and afterwards every module in the mode it was in; random states likewise."""
    modes = [(module, module.training) for module in network.modules()]
    network.eval()
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        for module, training in modes:
            module.training = training

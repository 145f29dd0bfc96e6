"""How good a network is on data: loss, accuracy, which classes it takes for which, and whether its confidence is right.

Of a yes-or-no question (one answer per sample) the loss is the log loss, by which such networks are compared; the AUC says
how well yes and no are told apart, and the calibration goes by the predicted probability of yes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from foresee.batch import Batch
from foresee.devices import one_dnn_kept
from foresee.errors import DataError, InputError
from foresee.probes.outputs import logits_of
from foresee.statistics import auc
from foresee.training import losses

#: bins of confidence, as Guo et al. (2017) count them
BINS = 15
#: confusions of more classes are not kept: a page cannot show them
MOST_CLASSES = 200


@dataclass(frozen=True)
class Bin:
    """Predictions whose confidence lies in one bin: how many, their mean confidence, the share that was right.

    Of yes or no: by the predicted probability of yes, and the share that was yes.
    """

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
        calibration: bins of confidence from 0 to 1 (of yes or no: of the probability of yes); empty where there is no one
            class or answer per sample.
        calibration_error: `Σ count / samples · |accuracy - confidence|` over the bins (Guo et al., 2017), or None.
        auc: of yes or no, how well they are told apart, ties counting half; None elsewhere, and where all labels are equal.
        predicted: of yes or no, the mean predicted probability of yes.
        observed: of yes or no, the share of yes.
    """

    samples: int
    loss: float
    accuracy: float | None = None
    confusion: tuple[tuple[int, ...], ...] | None = None
    calibration: tuple[Bin, ...] = ()
    calibration_error: float | None = None
    auc: float | None = None
    predicted: float | None = None
    observed: float | None = None

    @property
    def yes_or_no(self) -> bool:
        """Whether there was one yes-or-no question."""
        return self.observed is not None

    @property
    def merit(self) -> tuple[float, float]:
        """Higher is better: the accuracy, and of equal ones (or where there is none) the loss; of yes or no the loss alone.

        Where one answer in six is yes, a network that always says no is right five times of six: its loss tells.
        """
        right = self.accuracy if self.accuracy is not None and not self.yes_or_no else 0.0
        return (right, -self.loss)

    def __str__(self) -> str:
        """One line: `97.5 % right, loss 0.08, of 360`; of yes or no `AUC 0.7812, log loss 0.3911, of 360`."""
        if self.yes_or_no:
            apart = "" if self.auc is None else f"AUC {self.auc:.4f}, "
            return f"{apart}log loss {self.loss:.4f}, of {self.samples:,}"
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


@dataclass
class Predictions:
    """What a network said of each sample of a yes-or-no question, and what was true; filled by `evaluate`.

    >>> kept = Predictions()
    >>> found = evaluate(nn.Identity(), [Batch(torch.tensor([[0.0], [9.0]]), torch.tensor([[0.0], [1.0]]))], keep=kept)
    >>> kept.probabilities.round(3), kept.labels, found.auc
    (array([0.5, 1. ]), array([0., 1.]), 1.0)
    """

    _outputs: list[Tensor] = field(default_factory=list, repr=False)
    _labels: list[Tensor] = field(default_factory=list, repr=False)

    def add(self, outputs: Tensor, labels: Tensor) -> None:
        """Take in the logits and labels of a batch, one each."""
        self._outputs.append(outputs.detach().reshape(-1).cpu())
        self._labels.append(labels.reshape(-1).cpu())

    def __len__(self) -> int:
        return sum(map(len, self._labels))

    @property
    def logits(self) -> NDArray[np.float64]:
        """As the network gave them, (n,)."""
        return torch.cat(self._outputs).double().numpy()

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Of yes, (n,)."""
        return torch.cat(self._outputs).double().sigmoid().numpy()

    @property
    def labels(self) -> NDArray[np.float64]:
        """1 for yes, 0 for no, (n,)."""
        return torch.cat(self._labels).double().numpy()


def evaluate(
    network: nn.Module,
    batches: Iterable[Batch],
    *,
    kind: losses.Kind | None = None,
    moved: Callable[[Batch], Batch] = lambda batch: batch,
    precise: Callable[[], AbstractContextManager[Any]] = nullcontext,
    keep: Predictions | None = None,
) -> Evaluation:
    """What a network does on these batches, in evaluation mode; modes and random states stay as they were.

    Args:
        network: with outputs (n, classes), or of whatever shape the labels fit.
        batches: with labels.
        kind: of the labels; None: as those of the first batch are.
        moved: brings a batch to where the network is.
        precise: the context of forward runs (autocast).
        keep: filled with the single predictions, of a yes-or-no question.

    >>> network = nn.Identity()
    >>> found = evaluate(network, [Batch(torch.tensor([[2.0, 0.0], [3.0, 0.0]]), torch.tensor([0, 1]))])
    >>> found.accuracy, found.confusion
    (0.5, ((1, 0), (1, 0)))
    """
    samples, total, right = 0, 0.0, 0.0
    confusion: Tensor | None = None
    sure: list[tuple[Tensor, Tensor]] = []
    answers = Predictions() if keep is None else keep
    with evaluating(network), one_dnn_kept(), torch.no_grad():
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
            if kind == "answers" and outputs.numel() == len(batch):
                answers.add(outputs, labels)
            if kind == "classes" and labels.ndim == 1:
                confidence, predicted = outputs.softmax(1).max(1)
                sure.append((confidence.cpu(), (predicted == labels).cpu()))
                if outputs.shape[1] <= MOST_CLASSES:
                    counted = confused(predicted, labels, outputs.shape[1])
                    confusion = counted if confusion is None else confusion + counted
    if not samples:
        raise DataError("evaluation: there is no batch to look at")
    loss = total / samples
    if len(answers) == samples:
        return _of_answers(loss, right / samples, answers.logits, answers.probabilities, answers.labels)
    bins = calibration(torch.cat([one for one, _ in sure]), torch.cat([one for _, one in sure])) if sure else ()
    error = calibration_error(bins) if sure else None
    rows = None if confusion is None else tuple(tuple(row) for row in confusion.tolist())
    return Evaluation(samples, loss, None if kind == "values" else right / samples, rows, bins, error)


def judge(probabilities: ArrayLike, labels: ArrayLike) -> Evaluation:
    """The same of predicted probabilities of yes (n,) and what was true (n,), whoever predicted them.

    The log loss is that of probabilities from 1e-15 to 1 - 1e-15, lest one that was too sure made all of it infinite.

    >>> print(judge([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]))
    AUC 0.7500, log loss 0.4723, of 4
    """
    said, true = (np.asarray(one, np.float64).reshape(-1) for one in (probabilities, labels))
    if not len(said) or len(said) != len(true):
        raise InputError(f"judge: {len(said)} probabilities for {len(true)} labels; expected one each, at least one")
    inside = said.clip(1e-15, 1 - 1e-15)
    loss = -float(np.where(true > 0.5, np.log(inside), np.log1p(-inside)).mean())
    return _of_answers(loss, float(((said > 0.5) == (true > 0.5)).mean()), said, said, true)


def _of_answers(
    loss: float, accuracy: float, scores: NDArray[Any], probabilities: NDArray[Any], labels: NDArray[Any]
) -> Evaluation:
    bins = calibration(torch.from_numpy(probabilities), torch.from_numpy(labels))
    apart = auc(scores, labels) if np.isfinite(scores).all() else np.nan
    return Evaluation(
        samples=len(labels),
        loss=loss,
        accuracy=accuracy,
        calibration=bins,
        calibration_error=calibration_error(bins),
        auc=None if np.isnan(apart) else apart,
        predicted=float(probabilities.mean()),
        observed=float(labels.mean()),
    )


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


def calibration_error(bins: Iterable[Bin]) -> float:
    """`Σ count / n · |accuracy - confidence|`: how far the confidence is off, on average over predictions.

    >>> calibration_error([Bin(1, 0.25, 0.0), Bin(1, 0.75, 1.0)])
    0.25
    """
    there = tuple(bins)
    return sum(one.count * abs(one.accuracy - one.confidence) for one in there) / sum(one.count for one in there)


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

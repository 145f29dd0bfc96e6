r"""How good an ensemble is, how good its members are, and how much they differ (thesis, 5.4.4)."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from foresee.errors import InputError
from foresee.training.evaluations import calibration


@dataclass(frozen=True)
class Measures:
    """What an ensemble did on samples.

    Args:
        samples: how many.
        error: share that the mean of probabilities gets wrong.
        nll: its mean negative log likelihood, `-log p(label)`.
        calibration_error: of its confidence (15 bins).
        members: the error of each member.
        ate: averaged test error, the mean of these.
        ppd: pairwise predictive disagreement: the share of samples on which two members differ, the mean over all pairs
            (Fort et al., 2019); 0 of a single member.
    """

    samples: int
    error: float
    nll: float
    calibration_error: float
    members: tuple[float, ...]
    ate: float
    ppd: float

    @property
    def gain(self) -> float:
        """How much less the ensemble errs than its best member."""
        return min(self.members) - self.error

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def measure(probabilities: Tensor, labels: Tensor, average: str = "probabilities") -> Measures:
    """Measures of members' probabilities (members, samples, classes) and labels (samples,).

    With `average="outputs"` the ensemble is the softmax of the mean of the members' logits, which is the mean of their log
    probabilities, scaled to sum to 1.

    >>> first = torch.tensor([[0.9, 0.1], [0.6, 0.4]])
    >>> second = torch.tensor([[0.8, 0.2], [0.1, 0.9]])
    >>> found = measure(torch.stack([first, second]), torch.tensor([0, 1]))
    >>> found.error, found.members, found.ppd
    (0.0, (0.5, 0.0), 0.5)
    """
    if probabilities.ndim != 3 or probabilities.shape[1:2] != labels.shape or not labels.numel():
        raise InputError(
            f"measures: probabilities of shape {tuple(probabilities.shape)} and labels of {tuple(labels.shape)}; expected "
            "(members, samples, classes) and (samples,)"
        )
    single = probabilities.double()
    least = torch.finfo(single.dtype).tiny
    mean = single.mean(0) if average == "probabilities" else single.clamp(min=least).log().mean(0).softmax(-1)
    answers, together = single.argmax(-1), mean.argmax(-1)
    errors = (answers != labels).double().mean(1).tolist()
    bins = calibration(mean.amax(-1), together == labels)
    off = sum(one.count * abs(one.accuracy - one.confidence) for one in bins) / len(labels)
    pairs = [(answers[one] != answers[other]).double().mean() for one, other in pairs_of(len(single))]
    return Measures(
        samples=len(labels),
        error=float((together != labels).double().mean()),
        nll=float(nll(mean, labels)),
        calibration_error=off,
        members=tuple(errors),
        ate=sum(errors) / len(errors),
        ppd=float(torch.stack(pairs).mean()) if pairs else 0.0,
    )


def nll(probabilities: Tensor, labels: Tensor) -> Tensor:
    """Mean negative log likelihood of probabilities (..., samples, classes), (...); a probability of 0 counts as the least
    number there is, so that one that was too sure does not make all of it infinite.
    """
    there = labels.expand(probabilities.shape[:-1])[..., None]
    chosen = probabilities.gather(-1, there)[..., 0]
    return -chosen.clamp(min=torch.finfo(chosen.dtype).tiny).log().mean(-1)


def pairs_of(count: int) -> list[tuple[int, int]]:
    """All pairs of members."""
    return list(itertools.combinations(range(count), 2))

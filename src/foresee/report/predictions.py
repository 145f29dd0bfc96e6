"""What members of an ensemble predict, as pictures: which samples each gets right, how often they agree, where they lie.

Plain numbers first; the drawings are SVG for a page, in its colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foresee.ensembles.ensemble import combine
from foresee.errors import InputError
from foresee.report.figures import Chart, Layer, Scale
from foresee.report.html import Drawing, drawing
from foresee.training.evaluations import Bin, calibration

#: samples of the strip, at most; of more, as many evenly spaced ones are shown
STRIP = 900
#: height of a row of the strip, and the space between two, in units of the view box
ROW, GAP = 12, 3


@dataclass(frozen=True, eq=False)
class Predictions:
    """What members answered.

    Args:
        labels: true classes, (samples,).
        answers: of each member, (members, samples).
        together: of the ensemble, (samples,).
        confidence: of each member in its answer, (members, samples).
        sure: of the ensemble, (samples,).
    """

    labels: Tensor
    answers: Tensor
    together: Tensor
    confidence: Tensor
    sure: Tensor

    @classmethod
    def of(cls, probabilities: Tensor, labels: Tensor, average: str = "probabilities") -> Predictions:
        """From probabilities (members, samples, classes) and labels (samples,).

        >>> made = Predictions.of(torch.tensor([[[0.9, 0.1]], [[0.4, 0.6]]]), torch.tensor([0]))
        >>> made.answers.tolist(), made.together.tolist()
        ([[0], [1]], [0])
        """
        if probabilities.ndim != 3 or probabilities.shape[1:2] != labels.shape or not labels.numel():
            raise InputError(f"predictions of shape {tuple(probabilities.shape)} for labels of {tuple(labels.shape)}")
        single = probabilities.double()
        mean = combine(single.clamp(min=torch.finfo(torch.float64).tiny).log(), average).softmax(-1)
        confidence, answers = single.max(-1)
        sure, together = mean.max(-1)
        return cls(labels, answers, together, confidence, sure)

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def right(self) -> Tensor:
        """Whether each member is right, (members, samples)."""
        return self.answers == self.labels

    @property
    def all_right(self) -> Tensor:
        """Whether the ensemble is right, (samples,)."""
        return self.together == self.labels

    @property
    def counts(self) -> list[tuple[int, int, int]]:
        """Members that are right, samples with so many, and of these how many the ensemble gets right; most first."""
        many = self.right.sum(0)
        return [
            (count, int((many == count).sum()), int((self.all_right & (many == count)).sum()))
            for count in range(len(self), -1, -1)
        ]

    @property
    def disagreement(self) -> NDArray[np.float64]:
        """The share of samples on which two members answer differently, (members, members)."""
        return differing(self.answers)

    @property
    def all_disagreement(self) -> NDArray[np.float64]:
        """The same with the ensemble as the last, (members + 1, members + 1)."""
        return differing(torch.cat([self.answers, self.together[None]]))

    def bins(self, member: int | None = None) -> tuple[Bin, ...]:
        """Bins of confidence: of a member, or of the ensemble."""
        if member is None:
            return tuple(calibration(self.sure, self.all_right))
        return tuple(calibration(self.confidence[member], self.right[member]))


def differing(answers: Tensor) -> NDArray[np.float64]:
    """The share of samples on which two rows of answers (n, samples) differ, (n, n); pair by pair, so that many fit too.

    >>> differing(torch.tensor([[0, 1], [0, 0]])).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    return torch.stack([(answers != one).double().mean(-1) for one in answers]).numpy()


def placed(disagreement: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places (n, 2) whose squared distances are about the disagreement of each pair (n, n): classical scaling.

    The share of samples on which answers differ is a squared Euclidean distance (of answers as vectors of zeros and ones), so
    nothing is lost but what two axes cannot show. Signs are chosen such that the first point that is off an axis is above it.

    >>> places = placed(np.array([[0.0, 0.04], [0.04, 0.0]]))
    >>> float(((places[0] - places[1]) ** 2).sum().round(6))
    0.04
    """
    squared = np.asarray(disagreement, np.float64)
    count = len(squared)
    centred = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-0.5 * centred @ squared @ centred)
    order = np.argsort(-values)[:2]
    found = np.zeros((count, 2))
    for axis, which in enumerate(order):
        vector = vectors[:, which] * np.sqrt(max(float(values[which]), 0.0))
        off = np.flatnonzero(np.abs(vector) > 1e-9)
        found[:, axis] = -vector if len(off) and vector[off[0]] < 0 else vector
    return found


def map_chart(
    groups: Sequence[tuple[str, NDArray[np.float64], Sequence[str]]], *, roles: Sequence[str] = ("best", "front")
) -> Drawing:
    """Members as points: `groups` of a label, places (n, 2) and ids, each in the colour of its role."""
    layers = tuple(
        Layer("dots", role, tuple(100 * places[:, 0]), tuple(100 * places[:, 1]), label, tuple(ids))
        for role, (label, places, ids) in zip(roles, groups, strict=True)
    )
    words = "predictions of the members: the closer, the more often they answer alike"
    chart = Chart("map", words, "first axis", "second axis", "score", layers, Scale())
    note = (
        "The closer two are, the more often they answer alike: at a distance of 10 they differ for 1 % of the samples, "
        "of 50 for 25 %, of 100 for all; as well as two axes can show it."
    )
    return drawing("Map of predictions", chart, note)


def strip(found: Predictions, names: Sequence[str]) -> dict[str, Any]:
    """Which samples each gets wrong: a row for each member and one for the ensemble, samples in order of their classes.

    Samples that all get right are left out and counted.
    """
    wrong = torch.cat([~found.right, ~found.all_right[None]])
    some = torch.nonzero(wrong.any(0)).flatten()
    many = (~found.right).sum(0)
    order = sorted(some.tolist(), key=lambda one: (int(found.labels[one]), int(many[one])))
    step = max(1, -(-len(order) // STRIP))
    shown = order[::step]
    rows = [
        {"name": name, "path": _cells(wrong[place][shown]), "y": place * (ROW + GAP), "errors": int(wrong[place].sum())}
        for place, name in enumerate([*names, "ensemble"])
    ]
    return {
        "rows": rows,
        "width": max(len(shown), 1),
        "height": len(rows) * (ROW + GAP) - GAP,
        "row": ROW,
        "shown": len(shown),
        "some": len(order),
        "samples": len(found.labels),
    }


def _cells(wrong: Tensor) -> str:
    """Runs of wrong samples as one path of lines, in the middle of a row that begins at 0."""
    edges = torch.diff(torch.nn.functional.pad(wrong.int(), (1, 1)))
    starts, ends = (torch.nonzero(edges == one).flatten().tolist() for one in (1, -1))
    return "".join(f"M{start} {ROW / 2:g}h{end - start}" for start, end in zip(starts, ends, strict=True))

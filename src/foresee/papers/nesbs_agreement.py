"""How well estimates order what was trained: correlations over all ensembles of a size that a few networks make."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from torch import Tensor

from foresee.papers.samples import Floats
from foresee.statistics import pearson, spearman, top_overlap

#: the foremost whose agreement is printed
FOREMOST = 0.3
#: row -> what it is called
MEASURED = ("spearman", "pearson", "agreement-30")


def accuracies(probabilities: Tensor, labels: Tensor, size: int) -> Floats:
    """Accuracy of every ensemble of `size` out of the networks (networks, samples, classes), in the order of combinations.

    >>> import torch
    >>> single = torch.tensor([[[0.9, 0.1], [0.6, 0.4]], [[0.8, 0.2], [0.1, 0.9]]])
    >>> accuracies(single, torch.tensor([0, 1]), 1).tolist(), accuracies(single, torch.tensor([0, 1]), 2).tolist()
    ([0.5, 1.0], [1.0])
    """
    known = probabilities.double()
    groups = combinations(range(len(known)), size)
    right = [known[list(group)].mean(0).argmax(-1) == labels for group in groups]
    return np.array([float(one.double().mean()) for one in right])


def agreement(estimated: Floats, true: Floats) -> dict[str, float]:
    """Spearman, Pearson, and the share of the foremost 30 % by estimate that are among the truly foremost 30 %, in %.

    What does not exist, as a correlation of equal numbers, is NaN.

    >>> agreement(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 9.0]))["agreement-30"]
    100.0
    """
    foremost = max(1, round(FOREMOST * len(true)))
    shared = top_overlap(estimated, true, foremost)
    values = (spearman(estimated, true), pearson(estimated, true), 100 * shared)
    return dict(zip(MEASURED, values, strict=True))


def by_size(estimated: Tensor, trained: Tensor, labels: Tensor, sizes: tuple[int, ...]) -> dict[str, dict[str, float]]:
    """The agreement of all ensembles of each size, by the column's name (`n=3`).

    Args:
        estimated: probabilities by inherited weights, (networks, samples, classes).
        trained: of the same networks after training.
        labels: (samples,).
        sizes: of ensembles, at most as many as there are networks.
    """
    return {
        f"n={size}": agreement(accuracies(estimated, labels, size), accuracies(trained, labels, size))
        for size in sizes
        if size <= len(trained)
    }

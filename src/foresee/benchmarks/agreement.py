"""How far scores agree with each other: proxy with proxy, over the data they looked at, with and without true labels.

Everything here is a function of merits (one number per architecture, NaN where a proxy failed) that `scored` or `bench` gave.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresee.errors import InputError, UnknownNameError
from foresee.statistics import Correlations, correlate, kendall, known_pairs, pearson, spearman

Floats = NDArray[np.float64]

STATISTICS = {"spearman": spearman, "kendall": kendall, "pearson": pearson}


@dataclass(frozen=True, eq=False)
class Agreement:
    """Correlations between any two of `names`: `values[i, j]`, over the `n[i, j]` architectures that both have scored."""

    names: tuple[str, ...]
    statistic: str
    values: Floats
    n: NDArray[np.int64]

    def to_json(self) -> dict[str, Any]:
        """Plain values; what does not exist is None."""
        values = [[None if math.isnan(value) else value for value in row] for row in self.values.tolist()]
        return {"names": list(self.names), "statistic": self.statistic, "values": values, "n": self.n.tolist()}


def between(merits: Mapping[str, ArrayLike], statistic: str = "spearman") -> Agreement:
    """Correlation of every two proxies' merits (Table 7.4 of the thesis: the metrics are near one another).

    >>> between({"a": [1, 2, 3, 4], "b": [2, 4, 6, 9], "c": [4, 3, 2, math.nan]}).values
    array([[ 1.,  1., -1.],
           [ 1.,  1., -1.],
           [-1., -1.,  1.]])
    """
    if statistic not in STATISTICS:
        raise UnknownNameError("statistic", statistic, STATISTICS)
    columns = [np.asarray(column, np.float64) for column in merits.values()]
    if len({column.shape for column in columns}) > 1:
        raise InputError(f"merits of shapes {[column.shape for column in columns]}: expected the same architectures")
    size = len(columns)
    values, n = np.full((size, size), math.nan), np.zeros((size, size), np.int64)
    for i in range(size):
        for j in range(i, size):
            first, second = known_pairs(columns[i], columns[j])
            n[i, j] = n[j, i] = len(first)
            values[i, j] = values[j, i] = STATISTICS[statistic](first, second)
    return Agreement(tuple(merits), statistic, values, n)


@dataclass(frozen=True)
class Deviation:
    """How much a correlation moves with the data that was looked at: its values, their mean and standard deviation."""

    values: Mapping[str, float]
    mean: float
    deviation: float


def over_data(
    merits: Mapping[str, ArrayLike], truth: ArrayLike, statistic: str = "spearman", *, ddof: int = 0
) -> Deviation:
    """Correlation with the truth of one proxy that looked at several data sets (Table 7.6 of the thesis).

    `merits` are by data set, `truth` the numbers judged by, larger being better. The deviation divides by the number of data
    sets (less `ddof`).

    >>> over_data({"one": [1, 2, 3], "two": [1, 3, 2]}, [1, 2, 3])
    Deviation(values={'one': 1.0, 'two': 0.5}, mean=0.75, deviation=0.25)
    """
    if statistic not in STATISTICS:
        raise UnknownNameError("statistic", statistic, STATISTICS)
    values = {name: STATISTICS[statistic](*known_pairs(column, truth)) for name, column in merits.items()}
    numbers = np.array(list(values.values()))
    if len(numbers) <= ddof:
        raise InputError(f"{len(numbers)} data sets: more are needed for a deviation")
    return Deviation(values, float(numbers.mean()), float(numbers.std(ddof=ddof)))


def agnosticism(true: ArrayLike, other: ArrayLike, *, bootstrap: int = 1000, seed: int = 0) -> Correlations:
    """Scores under true labels (or data) against scores of the same architectures under random ones (NASI, Figure 1).

    Pearson's correlation is the paper's number: near 1 means that the labels (or the data) do not matter. An architecture
    whose `true` score failed is left out; one whose `other` score failed counts as a failure.
    """
    return correlate(other, true, bootstrap=bootstrap, seed=seed, top=())

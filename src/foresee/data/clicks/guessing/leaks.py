"""Columns that know the answer: what determines the label nearly perfectly was hardly known before it happened.

A column of values is asked what each row's label is by the other rows of the same value, missing being a value too; a
column of numbers by its order. A value that is seen once says nothing.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from foresee.data.clicks.guessing.evidence import Column
from foresee.statistics.ranks import ranks_of

#: of the rows that mean yes, the share that is found, and of those found, the share that is right: from here on suspicious
SURE = 0.97
#: the area under the curve of a number from which on it is suspicious
ORDERED = 0.995
#: rows of either answer, below which nothing is suspected
FEW = 10


def leaks(column: Column, yes: NDArray[np.bool_]) -> str:
    """Why this column is suspected to know the answer (`yes`, row by row); "" where it is not.

    >>> Leaky = Column("click_time", ["", "12:01", "", "12:07"] * 10)
    >>> leaks(Leaky, np.array([False, True, False, True] * 10))
    'where it is missing tells 100 % of the rows that mean yes'
    """
    if min(yes.sum(), (~yes).sum()) < FEW:
        return ""
    absent = np.array([value in column.absent for value in column.values])
    if (found := max(_told(absent, yes), _told(~absent, yes))) >= SURE:
        return f"where it is missing tells {100 * found:.0f} % of the rows that mean yes"
    if column.numbers is not None and len(column.counts) > 20 and len(column.numbers) == len(column.there):
        known = yes[~absent]
        if min(known.sum(), (~known).sum()) >= FEW and (area := _area(column.numbers, known)) >= ORDERED:
            return f"it orders the rows by the label, with an area under the curve of {area:.4f}"
        return ""
    many = Counter(column.values)
    right = Counter(value for value, one in zip(column.values, yes.tolist(), strict=True) if one)
    others = (
        many[value] > 1 and 2 * (right[value] - one) > many[value] - 1
        for value, one in zip(column.values, yes.tolist(), strict=True)
    )
    if (found := _told(np.fromiter(others, bool, len(yes)), yes)) >= SURE:
        return f"its values tell {100 * found:.0f} % of the rows that mean yes"
    return ""


def _told(said: NDArray[np.bool_], yes: NDArray[np.bool_]) -> float:
    """The smaller of: the share of yes that is said, the share of what is said that is so."""
    both = float((said & yes).sum())
    return float(min(both / max(yes.sum(), 1), both / max(said.sum(), 1)))


def _area(numbers: NDArray[np.float64], yes: NDArray[np.bool_]) -> float:
    """The area under the curve, whichever way round."""
    n, m = int(yes.sum()), int((~yes).sum())
    area = float((ranks_of(numbers)[yes].sum() - n * (n + 1) / 2) / (n * m))
    return max(area, 1 - area)

"""Several data sets seen as one: for folds over rows that came as training and validation rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.data.base import Data, Part, digest
from foresee.errors import InputError
from foresee.seeds import generator


class Joined(Data):
    """Data sets of one task, one after the other; normalised by what the first is normalised by.

    >>> import numpy as np
    >>> from foresee.data import Arrays
    >>> some, more = (Arrays(np.full((n, 1, 2, 2), n), np.zeros(n, int)) for n in (3, 2))
    >>> len(Joined([some, more])), Joined([some, more]).read(torch.tensor([4, 0])).inputs[:, 0, 0, 0].tolist()
    (5, [2.0, 3.0])
    """

    def __init__(self, parts: Sequence[Data]) -> None:
        first = parts[0]
        for one in parts:
            if one.endless or not one.numbered:
                raise InputError(f"{one.name}: has no numbered rows that could be joined with others")
            if one.task != first.task:
                raise InputError(f"{one.name} is for another task than {first.name}: they cannot be joined")
        super().__init__(" and ".join(one.name for one in parts), first.task, normalise=first.normalise, like=first)
        self.source, self.parts = first, tuple(parts)
        self.normalised_part, self.statistics_samples = first.normalised_part, first.statistics_samples
        self._ends = torch.tensor([len(one) for one in parts]).cumsum(0)

    def __len__(self) -> int:
        return int(self._ends[-1])

    @cached_property
    def fingerprint(self) -> str:
        """Of all parts."""
        return digest("joined", *(one.fingerprint for one in self.parts))

    def read(self, indices: Tensor) -> Batch:
        """The samples with these numbers, whichever part they are of."""
        where = torch.searchsorted(self._ends, indices, right=True)
        found, places = [], []
        for number, one in enumerate(self.parts):
            here = (where == number).nonzero().flatten()
            if len(here):
                found.append(one.read(indices[here] - (int(self._ends[number]) - len(one))))
                places.append(here)
        order = torch.cat(places).argsort()
        first = found[0]
        parts = [torch.cat(some)[order] for some in zip(*(one.parts for one in found), strict=True)]
        labels = [one.labels for one in found if one.labels is not None]
        return first.rebuilt(parts, torch.cat(labels)[order] if len(labels) == len(found) else None)


def fold_of(data: Data, folds: int, fold: int, *, seed: int = 0) -> tuple[Data, Data]:
    """What is learnt from and what is held out in fold number `fold`: over all folds, every row is held out once.

    >>> import numpy as np
    >>> from foresee.data import Arrays
    >>> learnt, held = fold_of(Arrays(np.zeros((10, 1, 2, 2)), np.zeros(10, int)), 5, 0)
    >>> len(learnt), len(held)
    (8, 2)
    """
    if not 2 <= folds <= len(data) or not 0 <= fold < folds:
        raise InputError(f"fold {fold} of {folds}: {data.name} has {len(data)} rows, expected 2 folds or more of them")
    pieces = torch.randperm(len(data), generator=generator(seed, "folds")).tensor_split(folds)
    rest = torch.cat([piece for place, piece in enumerate(pieces) if place != fold])
    learnt = Part(data, f"fold{fold}-learnt", rest.sort().values, data.like)
    return learnt, Part(data, f"fold{fold}-held", pieces[fold].sort().values, data.like or learnt)

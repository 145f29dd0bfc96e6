"""A table as what a search may ask: the measured value of an architecture, by its text or by what it computes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from foresee.benchmarks.table import Table
from foresee.scoring.many import parsed
from foresee.searchers.problem import Known
from foresee.spaces.base import Space


class Measuring:
    """Answers what one target of a table says of architectures, turned so that more is better; None where nothing.

    An architecture that the table holds under another text (NAS-Bench-101's cells have many) is known by its identity.

    Args:
        table: what was measured.
        target: the column, such as `test_acc_cifar10`, `val_acc_cifar10@12`.
        space: whose architectures are asked for.
    """

    def __init__(self, table: Table, target: str, space: Space[Any]) -> None:
        self.table, self.target, self.space = table, table.target(target), space
        values = table.values(target)
        self._sign = 1.0 if self.target.direction == "higher" else -1.0
        self._known = {
            text: self._sign * float(value)
            for text, value in zip(table.architectures, values, strict=True)
            if not np.isnan(value)
        }
        self.fingerprint = Known(self._known).fingerprint

    @property
    def best(self) -> float:
        """The most that can be found."""
        return max(self._known.values())

    @cached_property
    def _by_identity(self) -> dict[str, float]:
        """Values by identity; of several texts that compute the same, the first counts."""
        found: dict[str, float] = {}
        for text, architecture in zip(self._known, parsed(self.space, self._known, self.table.source), strict=True):
            found.setdefault(self.space.canonical(architecture), self._known[text])
        return found

    def holds(self, text: str) -> bool:
        """Whether something was measured of an architecture."""
        return self._one(text) is not None

    def __call__(self, texts: Sequence[str]) -> list[float | None]:
        """The value of each architecture."""
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> float | None:
        if text in self._known:
            return self._known[text]
        return self._by_identity.get(self.space.canonical(self.space.parse(text)))

    def shown(self, value: float) -> float:
        """A value as the table has it."""
        return self._sign * value

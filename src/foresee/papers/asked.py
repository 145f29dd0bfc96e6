"""A proxy as a paper asked for it, and what was measured of it over a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any, Literal, TypeAlias

import numpy as np

from foresee.papers.samples import Floats
from foresee.statistics.directions import sign

Coefficient: TypeAlias = Literal["spearman", "kendall", "pearson"]


@dataclass(frozen=True)
class Asked:
    """A proxy as a paper asked for it. `batch_size` None: what the proxy needs; `data` None: what the workshop looks at.

    `space_settings` are of the networks it looks at, on top of the benchmark's own.
    """

    proxy: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    batch_size: int | None = None
    space_settings: Mapping[str, Any] = field(default_factory=dict)
    data: str | None = None


@dataclass(frozen=True)
class Measured:
    """One proxy over a sample: `values` of shape (repeats, architectures), NaN where it failed, and why it did."""

    values: Floats
    direction: str = "higher"
    reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def merits(self) -> Floats:
        """Turned so that more is better."""
        return sign(self.direction) * self.values

    @property
    def words(self) -> str:
        """What went wrong, in words; "" where nothing did."""
        failed = int(np.isnan(self.values).any(0).sum())
        if not failed:
            return ""
        why = shorten(max(self.reasons, key=lambda reason: self.reasons[reason], default=""), 80, placeholder=" ...")
        return f"{failed} of {self.values.shape[1]} without a value, ranked last" + (f" ({why})" if why else "")

"""What was seen of a network that is trained several times: one look each, and all of them together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foresee.training.evaluations import Evaluation


@dataclass(frozen=True)
class Look:
    """One comparison of a candidate: on a held-out piece (None: the data's own validation rows), under a seed."""

    id: int
    fold: int | None
    seed: int
    judged: Evaluation | None
    reason: str = ""
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**vars(self), "judged": None if self.judged is None else self.judged.to_json()}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Look:
        """Inverse of `to_json`."""
        return cls(**{**plain, "judged": plain["judged"] and Evaluation.from_json(plain["judged"])})


@dataclass(frozen=True)
class Compared:
    """All looks at one candidate, fewer of one that fell back: `merit` is their mean, None where one of them failed."""

    looks: tuple[Look, ...]

    @property
    def merit(self) -> tuple[float, float] | None:
        """Accuracy and loss turned round, as `Evaluation.merit`: means over all looks."""
        merits = [one.judged.merit for one in self.looks if one.judged is not None]
        if not merits or len(merits) < len(self.looks):
            return None
        return math.fsum(one[0] for one in merits) / len(merits), math.fsum(one[1] for one in merits) / len(merits)

    @property
    def reason(self) -> str:
        """Why there is none."""
        return next((one.reason for one in self.looks if one.judged is None), "")

    @property
    def seconds(self) -> float:
        """What it cost."""
        return math.fsum(one.seconds for one in self.looks)

    def ahead_of(self, other: Compared) -> tuple[float, float]:
        """By how much its loss is lower, look by look, and the standard error of that (NaN of a single look)."""
        pairs = zip(self.looks, other.looks, strict=False)
        gains = [two.judged.loss - one.judged.loss for one, two in pairs if one.judged and two.judged]
        mean, n = math.fsum(gains) / max(1, len(gains)), len(gains)
        return mean, math.sqrt(math.fsum((g - mean) ** 2 for g in gains) / (n - 1) / n) if n > 1 else math.nan

    def to_json(self) -> dict[str, Any]:
        """Plain values: means over all looks, and each of them."""
        each = [
            {"fold": one.fold, "seed": one.seed, "reason": one.reason}
            if one.judged is None
            else {"fold": one.fold, "seed": one.seed, "loss": one.judged.loss, "auc": one.judged.auc}
            for one in self.looks
        ]
        losses, areas = ([one[key] for one in each if one.get(key) is not None] for key in ("loss", "auc"))
        means = {"loss": _mean(losses), "auc": _mean(areas)} if self.merit is not None else {"loss": None, "auc": None}
        return {**means, "looks": each, "seconds": self.seconds}


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None

"""A contest that was never run, with numbers that are easy to check."""

from __future__ import annotations

from collections.abc import Sequence

from foresee.benchmarks.contest.result import Contest, Truth
from foresee.benchmarks.contest.settings import ContestSettings
from foresee.benchmarks.contest.trial import Pick, Trial
from foresee.scoring.settings import ScoringSettings


def made_up_contest(searchers: Sequence[str] = ("random@measured", "evolution@params"), text: str = "cell") -> Contest:
    """Two seeds, a budget of 10, 90 is the best.

    The first searcher goes 80, 88 and 84, 90; the second one's picks under the first seed are not in the table, and under the
    others 85, for good.
    """
    settings = ContestSettings(
        space="nasbench201",
        table=f"{text}.csv",
        table_sha256="0" * 64,
        judge="test_acc_cifar10",
        target="val_acc_cifar10@12",
        searchers=tuple(searchers),
        scoring=ScoringSettings(proxies=("params",), inputs=(3, 32, 32), outputs=10, seed=5),
        seeds=2,
        budget=10,
    )
    first, second = (entry.label for entry in settings.entries)
    trials = [
        Trial(first, 5, (Pick(1, 1.0, text, 80.0), Pick(4, 4.0, text, 88.0)), 10, 10.0),
        Trial(second, 5, (Pick(1, 0.5, text, None),), 10, 5.0),
        Trial(first, 6, (Pick(2, 2.0, text, 84.0), Pick(10, 12.0, text, 90.0)), 10, 12.0),
        Trial(second, 6, (Pick(3, 1.5, text, 85.0),), 3, 1.5, text),
    ]
    notes, facts = (f"a note of {text}",), {"foresee": text}
    return Contest(settings, Truth("higher", 90.0, text, 15_625, 15_625, 70.0), tuple(trials), notes, facts)

"""A contest read again from its folder, as `Run.open` does for a search. Means and intervals are computed again."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from foresee.benchmarks.contest.result import RESULT, Contest, Truth
from foresee.benchmarks.contest.settings import ContestSettings
from foresee.benchmarks.contest.trial import Pick, Trial
from foresee.benchmarks.reading import direction_of, number, read_json, reading


def open_contest(folder: str | Path) -> Contest:
    """The contest in a folder."""
    where = Path(folder)
    with reading(where / RESULT):
        plain = read_json(where / RESULT)
        settings, table = ContestSettings.from_json(plain["settings"]), plain["table"]
        trials = tuple(_trial(one) for one in plain["trials"])
        if {one.label for one in trials} != {one.label for one in settings.entries}:
            raise ValueError("runs of others than the searchers it names")
        truth = Truth(
            direction_of(table["direction"]),
            number(table["best"]),
            str(table["architecture"]),
            int(table["feasible"]),
            int(table["of"]),
            number(table["median"]),
        )
        return Contest(settings, truth, trials, tuple(map(str, plain["notes"])), dict(plain["environment"]), where)


def _trial(plain: Mapping[str, Any]) -> Trial:
    picks = tuple(
        Pick(int(evaluations), number(seconds), str(text), None if judged is None else number(judged))
        for evaluations, seconds, text, judged in plain["picks"]
    )
    order = [(pick.evaluations, pick.seconds) for pick in picks]
    if any(now[0] < before[0] or now[1] < before[1] for before, now in pairwise(order)):
        raise ValueError("picks that do not follow one another")
    reason, seconds = str(plain["reason"]), number(plain["seconds"])
    return Trial(str(plain["searcher"]), int(plain["seed"]), picks, int(plain["evaluations"]), seconds, reason)

"""Which columns of a table a contest judges by and decides by, where nobody says."""

from __future__ import annotations

from collections.abc import Sequence

from foresee.benchmarks.table import Table, Target
from foresee.errors import InputError

#: beginnings of the names of what was measured for judging, and for deciding
JUDGED, SEEN = ("test",), ("val", "valid")


def usual_judge(table: Table) -> Target:
    """What picks are judged by where nobody says: the test column of the longest training."""
    found = _columns(table, JUDGED)
    if not found:
        raise InputError(f"say what picks are judged by (--judge): {', '.join(one.name for one in table.targets())}")
    first = found[0].metric, found[0].task
    return max((one for one in found if (one.metric, one.task) == first), key=lambda one: one.epochs)


def usual_target(table: Table, judged: Target) -> Target:
    """What is seen where nobody says: of the judged task, the validation column of the shortest training."""
    found = [one for one in _columns(table, SEEN) if one.task == judged.task]
    if not found:
        names = ", ".join(one.name for one in table.targets())
        raise InputError(f"say what those see who follow measured (--target), best no column that judges: {names}")
    return min((one for one in found if one.metric == found[0].metric), key=lambda one: one.epochs)


def _columns(table: Table, beginnings: Sequence[str]) -> list[Target]:
    """Accuracies come first, then all that is better higher, then the rest."""
    found = [one for one in table.targets() if one.metric.split("_")[0] in beginnings]
    return sorted(found, key=lambda one: ("acc" not in one.metric, one.direction == "lower"))


def shorter(table: Table, target: Target) -> list[Target]:
    """The same measured after fewer epochs, the fewest first."""
    same = [one for one in table.targets() if (one.metric, one.task) == (target.metric, target.task)]
    return sorted((one for one in same if one.epochs < target.epochs), key=lambda one: one.epochs)

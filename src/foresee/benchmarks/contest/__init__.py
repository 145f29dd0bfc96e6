"""Contests: which searcher comes nearest to a table's best, at what cost, and how surely."""

from foresee.benchmarks.contest.entries import Entry
from foresee.benchmarks.contest.result import Contest
from foresee.benchmarks.contest.run import compare
from foresee.benchmarks.contest.settings import ContestSettings

__all__ = ["Contest", "ContestSettings", "Entry", "compare"]

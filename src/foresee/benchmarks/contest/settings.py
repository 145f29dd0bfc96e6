"""What decides the numbers of a contest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from foresee.benchmarks.contest.entries import Entry, labelled
from foresee.errors import InputError
from foresee.scoring.settings import ScoringSettings
from foresee.settings import Settings, name, names, needed, part, setting, whole
from foresee.settings import table as named_values
from foresee.task import MOST

#: more than anybody has the patience for; every one of them is a search
MOST_SEEDS = 10_000


@dataclass(frozen=True)
class ContestSettings(Settings):
    """All that decides the numbers of a contest; engine, workers, cache and folder do not.

    Args:
        space: the space that is searched.
        table: the file of measured numbers, and its digest.
        judge: the column that picks are judged by; no searcher sees it.
        target: the column that those see who follow what was measured.
        searchers: who takes part, as `Entry` writes it.
        scoring: how candidates are scored; its first proxy is followed by those who say nothing else. Run r has its seed + r.
        space_settings: settings of the space.
        limits: hard limits of every search; regret is then to the best architecture that meets them.
        seeds: runs of each searcher.
        budget: candidates that a searcher may propose.
    """

    space: str = needed(name())
    table: str = needed(name("a path"))
    table_sha256: str = needed(name("a digest"))
    judge: str = needed(name())
    searchers: tuple[str, ...] = needed(names())
    target: str | None = setting(None, name())
    scoring: ScoringSettings = part(ScoringSettings)  # noqa: RUF009 - a field, as the others
    space_settings: Mapping[str, Any] = setting({}, named_values())
    limits: Mapping[str, Mapping[str, Any]] = setting({}, named_values())
    seeds: int = setting(10, whole(1, MOST_SEEDS))
    budget: int = setting(100, whole(1, MOST))

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(one.measured for one in self.entries) and self.target is None:
            raise InputError("a searcher follows what was measured, and no target says what that is (--target)")

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Who takes part."""
        return labelled(Entry.parse(text, self.scoring.proxies[0]) for text in self.searchers)

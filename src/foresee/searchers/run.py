"""A run as Python sees it: what was found, and the networks it can build."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from foresee.errors import RunError
from foresee.runs.folder import read
from foresee.runs.record import CandidateRow, Record
from foresee.searchers.settings import SearchSettings
from foresee.seeds import derive
from foresee.spaces.base import Space
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import Said, check_named, get, is_code, say_space
from foresee.task import Task


@dataclass(frozen=True)
class Run:
    """A finished or interrupted search.

    `best` builds the network it names: `run.best.build()`. `record` holds every candidate with its scores. `space` is the
    space as the person named it; a registered one is found by the name in the record.
    """

    record: Record
    folder: Path | None = None
    space: Said | None = None

    @property
    def status(self) -> str:
        """Status of the run: finished, interrupted or running."""
        return self.record.status

    @cached_property
    def best(self) -> Candidate:
        """The finalist ranked first; where there were no finals, the candidate with the greatest merit."""
        row = self.record.best
        if row is None:
            raise RunError("no candidate of this run has a score; the report lists the reasons")
        return self.candidate(row)

    @property
    def front(self) -> list[Candidate]:
        """The candidates that no other beats in every objective, in the order they were found."""
        return [self.candidate(row) for row in self.record.front]

    def candidate(self, row: CandidateRow) -> Candidate:
        """A stored candidate, able to build its network."""
        space = self._space
        details = {
            "id": row.id,
            "identity": row.identity,
            "scores": {name: score.value for name, score in row.scores.items()},
            **row.counts,
            "seed": self._settings.scoring.seed,
            "weights_seed": derive(self._settings.scoring.seed, "weights"),
        }
        return Candidate(space, space.parse(row.architecture), self._task, details)

    @classmethod
    def open(cls, folder: str | Path, *, space: Said | None = None) -> Run:
        """A run from its folder, also while it is still going on.

        `space` names the code of an own space, which building its networks needs; a run is not followed to code.
        """
        return cls(read(folder), Path(folder), space)

    @cached_property
    def _settings(self) -> SearchSettings:
        return SearchSettings.of_run(self.record.settings)

    @cached_property
    def _task(self) -> Task:
        return Task.from_json(self.record.environment.get("task"))

    @property
    def made_space(self) -> Space[Any] | None:
        """The space, where it is a registered one or the person has named it; None where its code may not be run."""
        return None if self.space is None and is_code(self._settings.space) else self._space

    @cached_property
    def _space(self) -> Space[Any]:
        settings, named = dict(self._settings.space_settings), self._settings.space
        if is_code(named):
            settings.setdefault("task", self._task.to_json())  # an own space may build for a task
        if self.space is None:
            check_named(str(self.folder or "run"), named, f"fs.Run.open(folder, {say_space(named)})")
        return get(named if self.space is None else self.space, **settings)

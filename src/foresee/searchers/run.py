"""A run as Python sees it: what was found, and the networks it can build."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foresee.errors import RunError
from foresee.grid import Column, Grid, Shown, frame, shortened
from foresee.lazy import find
from foresee.quantities import format_quantity
from foresee.runs.folder import RunFolder, read
from foresee.runs.record import CandidateRow, Record
from foresee.searchers.settings import SearchSettings
from foresee.seeds import derive
from foresee.spaces.base import Space
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import Said, check_named, get, is_code, say_space
from foresee.task import Task

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from foresee.searchers.named import TrainedBest

#: candidates that a notebook shows
SHOWN = 5


@dataclass(frozen=True, repr=False)
class Run(Shown):
    """A finished or interrupted search.

    `best` builds the network it names: `run.best.build()`. `record` holds every candidate with its scores. `space` is the
    space as the person named it; a registered one is found by the name in the record. `trained` are the foremost after
    training, where that was asked for (`train_best`).
    """

    record: Record
    folder: Path | None = None
    space: Said | None = None
    trained: TrainedBest | None = None

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

    @property
    def knee(self) -> Candidate:
        """The candidate at the knee of the front: where a little less of one objective no longer gains much of another."""
        row = self.record.knee
        if row is None:
            raise RunError("no candidate of this run has a score; the report lists the reasons")
        return self.candidate(row)

    def front_to_json(self) -> dict[str, Any]:
        """The whole front as plain values, what `front.json` holds: each candidate as in `best.json`, with its objectives."""
        sought, knee = self.record.objectives, self.record.knee
        return {
            "objectives": [{"name": one.name, "direction": one.direction} for one in sought],
            "knee": None if knee is None else knee.id,
            "front": [
                {**self.candidate(row).to_json(), "objectives": dict(row.objectives)} for row in self.record.front
            ],
        }

    def candidate(self, row: CandidateRow) -> Candidate:
        """A stored candidate, able to build its network."""
        space = self._space
        architecture = space.parse(row.architecture)
        details = {
            "id": row.id,
            "identity": space.canonical(architecture),  # the run keeps a digest of long ones
            "scores": {name: score.value for name, score in row.scores.items()},
            **row.counts,
            "seed": self._settings.scoring.seed,
            "weights_seed": derive(self._settings.scoring.seed, "weights"),
        }
        return Candidate(space, architecture, self._task, details)

    @classmethod
    def open(cls, folder: str | Path, *, space: Said | None = None) -> Run:
        """A run from its folder, also while it is still going on.

        `space` names the code of an own space, which building its networks needs; a run is not followed to code.
        """
        return cls(read(folder), Path(folder), space)

    # -- what people see ------------------------------------------------------------------------------------------------
    def to_frame(self) -> pandas.DataFrame:
        """A row for each candidate: status, architecture, what it seeks, every score, every cost. Needs pandas."""
        return frame(
            (
                {
                    "candidate": row.id,
                    "status": row.status,
                    "architecture": row.architecture,
                    "merit": row.merit,
                    **{name: score.value for name, score in row.scores.items()},
                    **row.counts,
                    "seconds": row.seconds,
                    "reason": row.reason,
                }
                for row in self.record.candidates
            ),
            index="candidate",
        )

    def plot(self) -> Figure:
        """The score over the candidates, and against the first cost, as a matplotlib figure."""
        drawn: Figure = find("foresee.report.plots", "of_run")(self)
        return drawn

    def __str__(self) -> str:
        failed = sum(row.status == "failed" for row in self.record.candidates)
        words = [f"{len(self.record.scored)} scored", *([f"{failed} failed"] if failed else [])]
        space = str(self.record.settings.get("space", "a space")).removeprefix("given:")
        return f"search of {shortened(space, 60)}, {self.status}: {', '.join(words)}"

    def __repr__(self) -> str:
        row = self.record.best
        return f"<Run: {self}{'' if row is None else f'; best {shortened(row.architecture, 80)}'}>"

    def _grid(self) -> Grid:
        best, sought = self.record.scored[:SHOWN], self.record.objectives
        costs = [name for name in ("params", "macs") if any(name in row.counts for row in best)]
        columns = [Column(""), Column("architecture", words=True)]
        columns += [Column(f"{one.name} ({one.direction} is better)") for one in sought] or [Column("merit")]
        rows = [
            [
                str(place),
                shortened(row.architecture),
                *([f"{row.objectives[one.name]:.6g}" for one in sought] or [f"{row.merit:.6g}"]),
                *(format_quantity(row.counts[name]) if name in row.counts else "" for name in costs),
            ]
            for place, row in enumerate(best, 1)
        ]
        notes = [f"in {self.folder}"] if self.folder else []
        return Grid([*columns, *map(Column, costs)], rows, f"{self}", notes)

    # -- where it came from ---------------------------------------------------------------------------------------------
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


def write_front(run: Run) -> None:
    """Write `front.json` into the run's folder, where it followed several objectives and its space may be made."""
    several = len(run.record.objectives) > 1 and run.record.front
    if several and run.folder is not None and run.made_space is not None:
        RunFolder(run.folder).write_front(run.front_to_json())

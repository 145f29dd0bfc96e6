"""Networks compared more than once: on several held-out pieces of the rows, and under several seeds.

One validation part of a thousand rows cannot tell two networks apart: the standard error of the difference of their log
losses is some thousandths there, more than there is to choose. With `folds` the rows that are not test rows (those for
training and those for validation together) are cut into pieces; each is held out once, and a network is judged by the mean
over all of them. Test rows are never looked at.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foresee.data.joined import Joined, fold_of
from foresee.devices import threads
from foresee.errors import InputError, RunError, TrainingError
from foresee.runs.apart import each
from foresee.runs.events import Announcer, Event
from foresee.runs.folder import write_whole
from foresee.searchers.looks import Compared, Look
from foresee.spaces.candidate import Candidate
from foresee.task import FEW_ROWS
from foresee.training.encoding import encoding_of
from foresee.training.keeping import read_plain
from foresee.training.loop import train
from foresee.training.recipe import Recipe
from foresee.training.sources import OfData, Sources, sources

#: how often a network for a small log is compared, where nobody says otherwise; and how many stay to the end
USUAL, STAY = 5, 4


@dataclass(frozen=True)
class Asked:
    """What is asked of every candidate.

    Args:
        data: what is learnt from, as `train` takes it.
        recipe: how.
        folds: pieces that are held out one after the other; 0: the data's own validation rows.
        seeds: trainings on each.
        seed: the first, which also draws the pieces.
        device: where.
        threads: of torch.
        encoded: `schema` and `preprocessing` of a click log.
    """

    data: Any
    recipe: Recipe
    folds: int
    seeds: int = 1
    seed: int = 0
    device: str = "cpu"
    threads: int = 1
    encoded: Mapping[str, Any] = field(default_factory=dict)

    @property
    def looks(self) -> list[tuple[int | None, int]]:
        """(fold, seed) of each look."""
        pieces: list[int | None] = list(range(self.folds)) if self.folds else [None]
        return [(fold, self.seed + again) for again in range(self.seeds) for fold in pieces]


def usual_looks(candidate: Candidate, data: Any, encoded: Mapping[str, Any]) -> tuple[int, int]:
    """Folds and seeds where nobody says otherwise: five folds for click logs of fewer than 200,000 rows to learn from, of
    which one validation part tells too little; the data's own split, once, for all else.

    A log that is split by time (or in order) keeps its split, and has five seeds instead: what comes later is not to be
    learnt from.
    """
    if not candidate.task.vocabularies:
        return 0, 1
    found = sources(data, **encoded)
    if found.train.words.get("samples", FEW_ROWS) >= FEW_ROWS:
        return 0, 1
    known = encoding_of(found.train.data) if isinstance(found.train, OfData) else None
    ordered = known is not None and known.schema.split["by"] in ("time", "order")
    return (0, USUAL) if ordered else (USUAL, 1)


@dataclass(frozen=True)
class _Job:
    """One look; it can travel to another process where its data can."""

    candidate: Candidate
    asked: Asked
    fold: int | None
    seed: int
    path: Path | None

    @property
    def words(self) -> dict[str, Any]:
        """What the look depends on, beside the data."""
        asked = self.asked
        return {
            "architecture": str(self.candidate.architecture),
            "recipe": json.loads(json.dumps(asked.recipe.to_json())),
            "folds": asked.folds,
            "first seed": asked.seed,
        }

    def stored(self) -> Look | None:
        """What is there already; what is of another question is not."""
        if self.path is None or not self.path.is_file():
            return None
        try:
            plain = read_plain(self.path)
            return Look.from_json(plain["look"]) if plain["asked"] == self.words else None
        except (RunError, KeyError, TypeError, AttributeError):
            return None

    def run(self) -> Look:
        """Train and judge."""
        asked, id_ = self.asked, int(self.candidate.details["id"])
        with threads(asked.threads):
            try:
                learnt, held = held_out(asked, self.fold)
                trained = train(
                    self.candidate, learnt, asked.recipe, validation=held, seed=self.seed, device=asked.device
                )
                look = Look(id_, self.fold, self.seed, trained.validation, seconds=trained.seconds)
            except TrainingError as error:
                look = Look(id_, self.fold, self.seed, None, str(error))
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, json.dumps({"asked": self.words, "look": look.to_json()}) + "\n")
        return look


def held_out(asked: Asked, fold: int | None) -> tuple[Any, Any]:
    """What is learnt from and what is held out."""
    found = sources(asked.data, share=asked.recipe.validation, seed=asked.seed, **asked.encoded)
    parts = [one.data for one in (found.train, found.validation) if isinstance(one, OfData)]
    if len(parts) < 2 and (fold is None or not _is_data(found)):
        raise InputError(
            "folds: networks are compared on rows with numbers, some of them for validation; hand over such"
        )
    return (parts[0], parts[1]) if fold is None else fold_of(Joined(parts), asked.folds, fold, seed=asked.seed)


def _is_data(found: Sources) -> bool:
    return isinstance(found.train, OfData)


def compared(
    candidates: Sequence[Candidate], asked: Asked, folder: Path | None, workers: int, tell: Announcer
) -> list[Compared]:
    """The candidates on the same pieces under the same seeds, in their order; what is there already is not made again.

    After each piece the worse half leaves, but for the last four: most are far behind after one piece, and only the best
    are worth many looks. Who stayed longer is better, whatever the numbers.
    """
    found: dict[int, list[Look]] = {int(one.details["id"]): [] for one in candidates}
    racing, done = list(candidates), 0
    for number, (fold, seed) in enumerate(asked.looks):
        jobs = [
            _Job(one, asked, fold, seed, None if folder is None else folder / f"{one.details['id']}-{fold}-{seed}.json")
            for one in racing
        ]
        stored = [job.stored() for job in jobs]
        missing = [job for job, there in zip(jobs, stored, strict=True) if there is None]
        made = each(_Job.run, missing, workers if missing and travels(missing[0], asked.data) else 1)
        total = done + expected(len(racing), len(asked.looks) - number)
        for there in stored:
            look = next(made) if there is None else there
            found[look.id].append(look)
            done += 1
            told = {"name": f"comparing, {done} of {total} trainings", "replayed": there is not None}
            tell(Event("step", done, total, look.id, {**told, "step": done, "steps": total}))
        racing = _staying(racing, found)
    return [Compared(tuple(looks)) for looks in found.values()]


def expected(candidates: int, looks: int) -> int:
    """How many trainings a comparison takes, where none fails.

    >>> expected(24, 5), expected(6, 5)
    (50, 22)
    """
    total = 0
    for _ in range(looks):
        total, candidates = total + candidates, max(min(STAY, candidates), candidates - candidates // 2)
    return total


def _staying(racing: Sequence[Candidate], found: Mapping[int, Sequence[Look]]) -> list[Candidate]:
    """The better half, in the order they came in; of equal ones the earlier."""
    merits = [(Compared(tuple(found[int(one.details["id"])])).merit, place) for place, one in enumerate(racing)]
    there = sorted(((merit, -place) for merit, place in merits if merit is not None), reverse=True)
    stay = {-place for _, place in there[: max(STAY, len(racing) - len(racing) // 2)]}
    return [one for place, one in enumerate(racing) if place in stay]


def travels(job: Any, data: Any) -> bool:
    """Whether another process can do a job with this data; else this one does all, and the numbers are the same."""
    try:
        return isinstance(data, str | Path) and bool(pickle.dumps(job))
    except (pickle.PicklingError, AttributeError, TypeError):
        return False

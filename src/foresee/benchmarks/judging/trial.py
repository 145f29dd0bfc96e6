"""One trial: a contestant learns from the training rows of a fold under a seed, and is judged on its test rows."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee.benchmarks.judging.contestants import Contestant
from foresee.benchmarks.judging.folds import Ground, Parts
from foresee.data import Data
from foresee.devices import threads
from foresee.errors import ForeseeError, InputError, RunError
from foresee.recommenders import Handmade, recommenders
from foresee.runs.folder import write_whole
from foresee.training import evaluations
from foresee.training.evaluations import Evaluation
from foresee.training.keeping import read_plain
from foresee.training.loop import train
from foresee.training.recipe import Recipe

#: rows that are read at a time
READ = 4096


@dataclass(frozen=True)
class Verdict:
    """What became of a trial: how good it is on the test rows of its fold, or why there is nothing to say."""

    contestant: str
    fold: int
    seed: int
    test: Evaluation | None = None
    validation: Evaluation | None = None
    reason: str = ""
    epochs: int = 0
    best_epoch: int = 0
    parameters: int = 0
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether it was judged."""
        return self.test is not None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        plain = {**vars(self)}
        for key in ("test", "validation"):
            plain[key] = None if plain[key] is None else plain[key].to_json()
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Verdict:
        """Inverse of `to_json`."""
        judged = {key: plain[key] and Evaluation.from_json(plain[key]) for key in ("test", "validation")}
        return cls(**{**plain, **judged})


@dataclass(frozen=True)
class Trial:
    """All that one trial needs; it can travel to another process where its ground can."""

    contestant: str
    what: Mapping[str, Any]
    ground: Ground
    fold: int
    seed: int
    recipe: Mapping[str, Any]
    folder: Path | None = None
    threads: int = 1
    device: str = "cpu"

    @property
    def path(self) -> Path | None:
        """The file of its verdict."""
        if self.folder is None:
            return None
        return self.folder / self.contestant / f"fold{self.fold}-seed{self.seed}.json"

    def stored(self) -> Verdict | None:
        """The verdict that is there already."""
        if self.path is None or not self.path.is_file():
            return None
        plain = read_plain(self.path)
        if plain.get("what") != self.what:
            raise RunError(f"{self.path}: is of another contestant of this name; choose another label or --out")
        try:
            return Verdict.from_json(plain["verdict"])
        except (KeyError, TypeError, AttributeError) as error:
            raise RunError(f"{self.path}: not as a judging leaves it ({error})") from error

    def run(self) -> Verdict:
        """The verdict, made where it is not there: a failure is one with a reason. What was half done goes on."""
        found = self.stored()
        if found is not None:
            return found
        began = time.monotonic()
        try:
            with threads(self.threads):
                found = self._judged()
        except ForeseeError as error:
            reason, took = str(error), time.monotonic() - began
            found = Verdict(self.contestant, self.fold, self.seed, reason=reason, seconds=took)
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            plain = {"what": dict(self.what), "verdict": found.to_json()}
            write_whole(self.path, json.dumps(plain, indent=1, allow_nan=False) + "\n")
            shutil.rmtree(self.path.with_suffix(""), ignore_errors=True)  # the weights: the verdict is what was wanted
        return found

    def _judged(self) -> Verdict:
        contestant = Contestant.from_json(self.contestant, self.what)
        parts = self.ground.fold(self.fold)
        if contestant.fitted:
            return self._fitted(contestant, parts)
        trained = train(
            contestant.trainable(parts.train.task),
            parts.train,
            Recipe.from_json(self.recipe, where="recipe"),
            validation=parts.validation,
            test=parts.test,
            seed=self.seed,
            device=self.device,
            out=None if self.path is None else self.path.with_suffix(""),
            resume=True,
        )
        return Verdict(
            self.contestant,
            self.fold,
            self.seed,
            test=trained.test,
            validation=trained.validation,
            epochs=len(trained.history),
            best_epoch=trained.best_epoch,
            parameters=int(trained.facts["parameters"]),
            seconds=trained.seconds,
        )

    def _fitted(self, contestant: Contestant, parts: Parts) -> Verdict:
        """One that is fitted whole, on arrays."""
        made = contestant.made
        assert isinstance(made, Handmade)
        began = time.monotonic()
        model = recommenders[made.name](parts.train.task, **{"seed": self.seed, **made.settings})
        learnt, kept, asked = (_arrays(one) for one in (parts.train, parts.validation, parts.test))
        model.fit(*learnt, validation=kept)
        test, validation = (evaluations.judge(model.probabilities(*one[:2]), one[2]) for one in (asked, kept))
        took = time.monotonic() - began
        return Verdict(self.contestant, self.fold, self.seed, test=test, validation=validation, seconds=took)


def _arrays(data: Data) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Numbers, categories and answers of all rows."""
    columns: tuple[list[NDArray[Any]], ...] = ([], [], [])
    for batch in data.epoch(min(READ, len(data)), shuffle=False):
        if isinstance(batch.inputs, tuple) and len(batch.inputs) == 2 and batch.labels is not None:
            for column, part in zip(columns, (*batch.inputs, batch.labels), strict=True):
                column.append(part.numpy())
    if not columns[0]:
        raise InputError(f"{data.name}: is no click log with labels, which trees are fitted on")
    dense, sparse, labels = (np.concatenate(column) for column in columns)
    return dense, sparse, labels.reshape(-1)
